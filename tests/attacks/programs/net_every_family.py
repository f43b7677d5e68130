"""Tries every family of sockets and every type: a list of the known ones always lacks some.

Seen: an answer: it got a socket that is not a Unix socket.
Stopped at: strict, standard.
Verdict: wrong.
"""
import socket


def attack():
    got = []
    for family in [f for f in range(2, 64)]:
        for kind in (1, 2, 3, 4, 5, 10):
            try:
                socket.socket(family, kind, 0).close()
                got.append((family, kind))
            except OSError:
                pass
    return bool(got)
