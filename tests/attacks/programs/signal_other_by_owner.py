"""Makes another process the owner of a pipe, so that the kernel sends it SIGIO, which kills.

Seen: the process is dead.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import fcntl
import os
import socket


def attack():
    reader, writer = socket.socketpair()
    fcntl.fcntl(reader, fcntl.F_SETOWN, target.victim)
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    writer.send(b"x")
