"""Connects to a Unix socket outside of the scratch folder, as one does to a Docker daemon.

Seen: the token arrives at the listener.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket


def attack():
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(target.unix)
        connection.sendall(target.token)
