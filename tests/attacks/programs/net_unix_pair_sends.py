"""Sends a datagram to the path of a socket, from one end of a pair that was never connected to it.

Seen: the token arrives at the receiver.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket


def attack():
    one, _other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(target.token, target.unix_datagram)
