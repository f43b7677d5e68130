"""Asks the kernel's cryptography for a hash: AF_ALG, a family with a long record of holes.

Seen: an answer: it got the socket.
Stopped at: strict, standard.
Works: where the kernel has AF_ALG.
Verdict: raised.
"""
import socket


def attack():
    with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as sock:
        sock.bind(("hash", "sha256"))
        return True
