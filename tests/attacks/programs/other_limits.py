"""Lowers another process's limits, so that it can open nothing any more.

Seen: the process's limit is changed.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import ctypes


def attack():
    # Not resource.prlimit: guards hide that module. 7 is RLIMIT_NOFILE.
    ctypes.CDLL(None).prlimit(target.victim, 7, (ctypes.c_ulong * 2)(3, 3), None)
