"""Swaps a file and a symbolic link that leads outside while it opens the name ten thousand times.

Seen: the file outside is changed.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os
import threading


def swap(stop):
    while not stop.is_set():
        for make in (lambda: os.symlink(target.canary, "new"), lambda: open("new", "w").close()):
            make()
            os.replace("new", "mine")


def attack():
    stop = threading.Event()
    thread = threading.Thread(target=swap, args=(stop,), daemon=True)
    thread.start()
    for _ in range(10_000):
        try:
            fd = os.open("mine", os.O_WRONLY | os.O_APPEND)
        except OSError:
            continue
        os.write(fd, b"x")
        os.close(fd)
    stop.set()
    thread.join()
