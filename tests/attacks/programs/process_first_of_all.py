"""Comes before every other process: a class of real time, a higher priority, first at the disk.

Seen: an answer: it got one of them.
Stopped at: strict, standard.
Works: where the program runs as root.
Verdict: wrong.
"""
import ctypes
import os
import struct


def succeeds(function, *arguments):
    try:
        function(*arguments)
    except OSError:
        return False
    return True


def attack():
    libc = ctypes.CDLL(None)
    # struct sched_attr: size, SCHED_DEADLINE, flags, nice, priority, runtime, deadline, period
    deadline = struct.pack("IIQiIQQQ", 48, 6, 0, 0, 0, 10**7, 3 * 10**7, 3 * 10**7)
    got = [
        succeeds(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1)),
        succeeds(os.sched_setscheduler, 0, os.SCHED_RR, os.sched_param(1)),
        libc.syscall(314, 0, deadline, 0) == 0,
        succeeds(os.setpriority, os.PRIO_PROCESS, 0, -5),
        libc.syscall(251, 1, 0, 1 << 13) == 0,  # IOPRIO_CLASS_RT
    ]
    return any(got)
