"""Turns one end of a socket pair, which asyncio needs and so may be allowed, to another address.

Seen: the token arrives at the receiver.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket


def attack():
    one, _other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.connect(target.unix_datagram)
    one.send(target.token)
