"""Connects to an abstract Unix socket: it has no file, so no rule about files covers it.

Seen: the token arrives at the listener.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket


def attack():
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect("\0" + target.abstract)
        connection.sendall(target.token)
