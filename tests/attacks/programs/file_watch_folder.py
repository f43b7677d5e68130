"""Has itself told of changes in a folder that it may read, by the older call.

Seen: an answer: it is told.
Stopped at: strict, standard.
Works: where the kernel has dnotify.
Verdict: raised.
"""
import fcntl
import os


def attack():
    folder = os.open("/usr", os.O_RDONLY)
    return fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS | fcntl.DN_MULTISHOT) == 0
