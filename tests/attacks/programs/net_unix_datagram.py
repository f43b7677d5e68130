"""Sends a datagram to a Unix socket without ever connecting.

Seen: the token arrives at the receiver.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket


def attack():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(target.token, target.unix_datagram)
