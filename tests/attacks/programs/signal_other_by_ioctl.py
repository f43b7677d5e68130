"""Makes another process the owner of a socket by ioctl, so that the kernel sends it SIGIO, which kills.

Seen: the process is dead.
Stopped at: strict, standard.
Verdict: raised.
"""
import fcntl
import socket
import struct


def attack():
    reader, writer = socket.socketpair()
    fcntl.ioctl(reader, 0x8901, struct.pack("i", target.victim))
    fcntl.ioctl(reader, 0x5452, struct.pack("i", 1))
    writer.send(b"x")
