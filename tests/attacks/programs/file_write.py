"""Writes a file into a folder that anybody may write to.

Seen: the file is there.
Stopped at: strict, standard.
Verdict: raised.
"""


def attack():
    with open(target.outside + "/written", "w") as file:
        file.write("x")
