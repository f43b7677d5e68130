"""Kills every other child of its parent.

Seen: the programs beside it have other verdicts.
Stopped at: strict, standard.
Verdict: raised, wrong.
"""
import os
import time


def attack():
    if os.getppid() in (0, 1):
        raise ProcessLookupError("its parent is not of this world")
    killed, end = 0, time.monotonic() + 2
    while killed < 3 and time.monotonic() < end:  # there may be none now, or one that is done already
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                try:
                    with open(f"/proc/{name}/stat") as file:
                        state, parent = file.read().rpartition(")")[2].split()[:2]
                except OSError:
                    continue
                if int(parent) == os.getppid() and state != "Z":  # the dead cannot be killed
                    os.kill(int(name), 9)
                    killed += 1
        time.sleep(0.01)
