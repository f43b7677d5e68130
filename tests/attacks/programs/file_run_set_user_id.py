"""Runs a program that belongs to root and gives its rights to who runs it.

Seen: an answer: it runs as root.
Stopped at: strict, standard.
Works: as an ordinary user.
Verdict: wrong, raised.
"""
import os
import time


def attack():
    reader, _writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(reader, 0)
            os.execv("/bin/su", ["su"])
        finally:
            os._exit(1)
    try:
        for _ in range(100):
            if os.geteuid() != 0 and os.stat(f"/proc/{child}").st_uid == 0:
                return True
            time.sleep(0.005)
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
