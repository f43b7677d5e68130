"""atexit handlers: last in, first out; one raises, one is unregistered, one registers another too late."""

import atexit
import sys

sys.unraisablehook = lambda unraisable: print("hook", repr(unraisable.exc_value))


def say(*words):
    print(*words)


def late():
    atexit.register(say, "never: registered too late")
    print("late")


def fails():
    print("fails")
    raise ValueError("in atexit")


@atexit.register
def first():
    print("first in, last out", __name__)


atexit.register(say, "with", "arguments")
atexit.register(fails)
atexit.register(first)
atexit.register(late)
atexit.register(len)
atexit.unregister(len)
print("end of program")
