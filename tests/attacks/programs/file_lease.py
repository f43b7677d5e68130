"""Takes a lease on a file, which holds up whoever opens it for writing.

Seen: an answer: it got the lease.
Stopped at: strict, standard.
Works: where the kernel has leases for the file system.
Verdict: raised.
"""
import fcntl
import os


def attack():
    with open("own", "w"):
        pass
    reader = os.open("own", os.O_RDONLY)
    return fcntl.fcntl(reader, fcntl.F_SETLEASE, fcntl.F_RDLCK) == 0
