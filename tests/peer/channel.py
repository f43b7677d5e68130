"""How a hostile program finds the channel to its caller: it looks for its function among all objects."""

FIND = """
import gc
def channel():
    functions = [thing for thing in gc.get_objects() if type(thing) is type(channel)]
    ours = [f for f in functions if f.__module__ == "deskcheck.sandbox.inside.channel" and f.__name__ == "send"]
    return ours[-1]
send = channel()
"""
"""Text of Python. Afterwards `send` takes a message's bytes."""
