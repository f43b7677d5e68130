"""Sends the token in the first packet of a TCP connection (MSG_FASTOPEN): there is no connect() to be refused.

Seen: the token arrives at the listener.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket


def attack():
    with socket.socket() as connection:
        connection.sendto(target.token, socket.MSG_FASTOPEN, ("127.0.0.1", target.tcp))
