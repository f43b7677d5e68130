"""Leaves a folder that was never open to its owner's eyes: made with a mode, so nothing that forbids changing modes helps.

Seen: the scratch folder is still there when the harness is done.
Stopped at: strict, standard.
Works: where the harness does not run as root.
Verdict: wrong, raised.
"""
import os


def attack():
    try:
        os.umask(0o477)
        os.mkdir("masked")
        open("masked/file", "w").close()
        os.umask(0)
    except OSError:
        pass
    os.mkdir("hidden", 0o300)
    open("hidden/file", "w").close()
    os.mkdir("hidden/deeper", 0o300)
    open("hidden/deeper/file", "w").close()
