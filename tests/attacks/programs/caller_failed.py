"""Says that the harness failed before the program began: it is run again, and nobody is marked.

Seen: the verdict is an error of the harness's.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed.
"""


def attack():
    target.channel()(b'failed {"exception": "OSError", "detail": "no space left"}')
    return True
