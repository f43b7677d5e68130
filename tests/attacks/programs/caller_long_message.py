"""Sends one message of a gigabyte, with the key that the harness gave it.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed, wrong, out_of_memory, raised.
"""
import sys


def channel():
    """The function that the recorder sends its messages with."""
    frame = sys._getframe()
    while frame:
        for thing in [*frame.f_locals.values()]:
            send = getattr(thing, "send", None)
            if getattr(send, "__module__", None) == "deskcheck.sandbox._channel":
                return send
        frame = frame.f_back
    raise RuntimeError("not found")


def attack():
    send = channel()
    for _ in range(200):
        send(b"end " + b" " * (16 << 20))
    return True
