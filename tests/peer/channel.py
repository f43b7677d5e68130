"""How a hostile program finds the channel to its caller: it walks frames to a bound method of it."""

FIND = """
import sys
def channel():
    frame = sys._getframe()
    while frame:
        for thing in [*frame.f_locals.values()]:
            send = thing if callable(thing) else getattr(thing, "send", None)
            if getattr(send, "__module__", None) == "deskcheck.sandbox.inside.channel":
                return send
        frame = frame.f_back
send = channel()
"""
"""Text of Python. Afterwards `send` takes a message's bytes."""
