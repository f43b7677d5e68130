"""Says that it has ended with a million empty lists: three bytes are seventy in who reads them.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed, wrong.
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
    channel()(b'end {"outcome": "returned", "cpu_s": 0, "imported": [' + b"[]," * 1_000_000 + b"[]]}")
    return True
