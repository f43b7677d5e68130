import sys


class D:
    def __del__(self):
        raise ValueError("in del")


def hook(u):
    print("unraisable", u.exc_type.__name__, u.exc_value, u.object.__qualname__)


sys.unraisablehook = hook
d = D()
del d
print("on")
