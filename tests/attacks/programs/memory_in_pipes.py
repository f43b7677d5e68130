"""Has a pipe hold a megabyte, of memory that no limit on a process counts.

Seen: an answer: it holds that.
Stopped at: strict, standard.
Verdict: raised.
"""
import fcntl
import os


def attack():
    reader, _writer = os.pipe()
    return fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 1 << 20) == 1 << 20
