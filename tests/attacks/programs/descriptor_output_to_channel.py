"""Has its standard output be the socket to the harness, so that what is printed there is taken for messages.

Seen: the harness is disturbed, or the verdict is that it passed.
Stopped at: strict, standard.
Works: against a harness that has a socket with its child.
Verdict: killed, wrong, raised.
"""
import os
import sys


def attack():
    for fd in target.sockets():
        os.dup2(fd, 1)
        os.dup2(fd, 2)
    print('end {"outcome": "returned", "cpu_s": 0}' * 100, flush=True)
    sys.stderr.write("ready")
