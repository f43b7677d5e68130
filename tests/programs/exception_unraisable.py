"""An exception in __del__ cannot be raised: it goes to sys.unraisablehook, and the program goes on."""

import sys


class Bad:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        raise ValueError(self.name)


def hook(unraisable):
    print("unraisable", repr(unraisable.exc_value), unraisable.object.__name__)


sys.unraisablehook = hook
a = Bad("rebound")
a = 20
print("after rebinding")


def leave():
    b = Bad("local")
    return 25


print(leave())
Bad("temporary")
sys.unraisablehook = sys.__unraisablehook__
print("done")
