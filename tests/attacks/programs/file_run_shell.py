"""Has a shell write a file outside: a new program, so nothing that only watches Python sees it.

Seen: the file is there.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os


def attack():
    child = os.fork()
    if child == 0:
        try:
            os.execv("/bin/sh", ["sh", "-c", f"echo x > {target.outside}/shell"])
        finally:
            os._exit(1)
    os.waitpid(child, 0)
