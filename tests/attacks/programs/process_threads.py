"""Starts five hundred threads.

Seen: an answer: all of them ran at once.
Stopped at: strict, standard.
Verdict: raised.
"""
import threading


def attack():
    # Small stacks: the limit on memory is not to be what stops them.
    threading.stack_size(64 << 10)
    stop = threading.Event()
    try:
        for _ in range(500):
            threading.Thread(target=stop.wait, args=(6,), daemon=True).start()
        return True
    finally:
        stop.set()
