"""Fills the sockets of six children: what they hold is the kernel's memory, not theirs.

Seen: an answer: they held 400 MiB together.
Stopped at: strict, standard.
Verdict: wrong, raised, out_of_memory, killed.
"""
import os
import socket
import time


def fill(writer):
    held = 0
    kept = []
    while held < 70 << 20:
        pair = socket.socketpair()
        kept.append(pair)
        for side in pair:
            try:
                side.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            except OSError:
                pass
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
    for _ in range(6):
        child = os.fork()
        if child == 0:
            try:
                fill(writer)
            finally:
                os._exit(0)
        children.append(child)
    os.close(writer)
    full = 0
    while text := os.read(reader, 6):
        full += len(text)
    return full == 6 and all(os.waitpid(child, 0)[1] == 0 for child in children)
