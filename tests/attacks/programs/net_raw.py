"""Makes a raw socket, which sends packets of any form.

Seen: an answer: it got the socket.
Stopped at: strict, standard.
Works: as root.
Verdict: raised.
"""
import socket


def attack():
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP):
        return True
