"""Writes the largest lengths there are to every socket, whole and in halves.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed, wrong, exited, timed_out.
"""
import os


def attack():
    for fd in target.sockets():
        for head in (b"\xff" * 20, b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\x00\x02\x00\x01" + bytes(16)):
            try:
                os.set_blocking(fd, False)
                os.write(fd, head[:2])
                os.write(fd, head[2:])
            except OSError:
                continue
    os._exit(0)
