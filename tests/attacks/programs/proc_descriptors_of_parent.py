"""Opens what its parent has open, through /proc, and writes the token to all of it.

Seen: the token is in the harness's file, or the harness is disturbed.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    for pid in (target.host, os.getppid()):
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                fd = os.open(f"/proc/{pid}/fd/{name}", os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
                os.write(fd, target.token)
            except OSError:
                pass
