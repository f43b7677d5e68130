"""Sends the token in a datagram over loopback.

Seen: the token arrives at the receiver.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket


def attack():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(target.token, ("127.0.0.1", target.udp))
