"""Has the buffers of sockets enlarged: memory of the kernel's, which no limit on a process counts.

Seen: an answer: they are larger.
Stopped at: strict, standard.
Verdict: raised.
"""
import socket


def attack():
    one, other = socket.socketpair()
    usual = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        for end in (one, other):
            end.setsockopt(socket.SOL_SOCKET, option, 2 * usual)
    return other.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) > usual
