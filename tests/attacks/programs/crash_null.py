"""Reads from address 0.

Seen: the verdict is not that it was killed, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Works: never, it is only a crash.
Verdict: killed.
"""
import ctypes


def attack():
    ctypes.string_at(0)
