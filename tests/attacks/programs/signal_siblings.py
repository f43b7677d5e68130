"""Kills every other child of its parent.

Seen: the programs beside it have other verdicts.
Stopped at: strict, standard.
Verdict: raised, wrong.
"""
import os


def attack():
    if os.getppid() in (0, 1):
        raise ProcessLookupError("its parent is not of this world")
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/stat") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == os.getppid():
                os.kill(int(name), 9)
