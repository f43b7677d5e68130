"""Sends a message to the path of a socket from a pair of the kind RAW, which of this family are datagrams.

Seen: the token arrives at the receiver.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket


def attack():
    one, _other = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)
    one.sendmsg([target.token], [], 0, target.unix_datagram)
