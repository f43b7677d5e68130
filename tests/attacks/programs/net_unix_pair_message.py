"""Sends a message with an open file to the path of a socket; the path lies where no filter can look.

Seen: the token arrives at the receiver.
Stopped at: strict, standard.
Verdict: raised.
"""
import array
import os
import socket


def attack():
    one, _other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    given = array.array("i", [os.open(".", os.O_RDONLY)])
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, given)]
    one.sendmsg([target.token], rights, 0, target.unix_datagram)
