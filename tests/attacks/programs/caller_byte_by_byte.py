"""Writes a message of many small parts to every socket, one byte at a time.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed, wrong, exited, timed_out.
"""
import os


def attack():
    for fd in target.sockets():
        for _ in range(3000):
            try:
                os.write(fd, b"\x80")
            except OSError:
                break
    os._exit(0)
