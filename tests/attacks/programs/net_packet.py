"""Listens to every frame on every device.

Seen: an answer: it got the socket.
Stopped at: strict, standard.
Works: as root.
Verdict: raised.
"""
import socket


def attack():
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x0300):
        return True
