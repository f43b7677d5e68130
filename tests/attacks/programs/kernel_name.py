"""Renames the machine, to what it is called.

Seen: an answer: it could.
Stopped at: strict, standard.
Works: as root.
Verdict: raised.
"""
import socket


def attack():
    socket.sethostname(socket.gethostname())
    return True
