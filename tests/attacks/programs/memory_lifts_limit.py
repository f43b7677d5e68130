"""Lifts its own limits on memory, processes and CPU time again.

Seen: an answer: one of them is higher.
Stopped at: strict, standard.
Works: where the program runs as root, or limits are soft ones.
Verdict: wrong, raised.
"""
import ctypes
import resource


def attack():
    libc = ctypes.CDLL(None)
    lifted = False
    for which in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_CPU):
        before = resource.getrlimit(which)[1]
        wanted = (1 << 50, 1 << 50)
        try:
            resource.setrlimit(which, wanted)
        except (OSError, ValueError):
            libc.syscall(302, 0, which, ctypes.byref((ctypes.c_ulong * 2)(*wanted)), None)
        lifted = lifted or resource.getrlimit(which)[1] not in (before, min(before, 1 << 50))
    return lifted
