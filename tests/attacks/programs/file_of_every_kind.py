"""Leaves a folder, a pipe and a symbolic link outside: for each there is a right of its own.

Seen: one of them is there.
Stopped at: strict, standard.
Verdict: wrong.
"""
import os


def attack():
    for make in (os.mkdir, os.mkfifo, lambda path: os.symlink("/", path)):
        try:
            make(os.path.join(target.outside, f"kind-{os.urandom(4).hex()}"))
        except OSError:
            continue
