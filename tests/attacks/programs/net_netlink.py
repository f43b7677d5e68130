"""Asks the kernel for the machine's network devices over netlink.

Seen: an answer: the kernel spoke to it.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket
import struct


def attack():
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as route:
        route.settimeout(1)
        route.send(struct.pack("=LHHLLB3x", 20, 18, 0x301, 1, 0, 0))
        return len(route.recv(1 << 16)) > 16
