"""Runs a file that exists in memory only, where no rule about folders is asked.

Seen: the file that it writes is there.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os


def attack():
    fd = os.memfd_create("x", 0)
    os.write(fd, f"#!/bin/sh\necho x > {target.outside}/memory\n".encode())
    child = os.fork()
    if child == 0:
        try:
            os.execve(fd, ["x"], {})
        finally:
            os._exit(1)
    os.waitpid(child, 0)
