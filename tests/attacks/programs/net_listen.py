"""Waits for connections on loopback, as a back door does.

Seen: an answer: the port is open.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket


def attack():
    with socket.create_server(("127.0.0.1", 0)):
        return True
