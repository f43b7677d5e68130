"""Makes a socket to the host of this virtual machine.

Seen: an answer: it got the socket.
Stopped at: strict, standard.
Works: where the kernel has vsock.
Verdict: raised.
"""
import socket


def attack():
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM):
        return True
