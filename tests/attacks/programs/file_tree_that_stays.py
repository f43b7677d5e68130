"""Leaves a tree that is hard to delete: a thousand folders deep, closed to its owner, names that are no text.

Seen: the scratch folder is still there when the harness is done.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os


def attack():
    open(b"\xff\xfe\n", "w").close()
    os.mkdir("closed")
    open("closed/file", "w").close()
    os.mkfifo("fifo")
    os.chmod("closed", 0)
    for _ in range(1000):
        os.mkdir("d")
        os.chdir("d")
    os.chmod(".", 0)
