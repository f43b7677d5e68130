"""sys.getrefcount before and after a line, a call, a loop: nobody took a reference and kept it."""

import sys


class Thing:
    pass


def borrow(x):
    y = [x]
    z = (y, x)
    return len(z)


def main():
    a = Thing()
    b = ["list", a]
    c = "".join(["str", "ing"])
    d = {"key": b}
    before = [sys.getrefcount(x) for x in (a, b, c, d)]
    borrow(a)
    for i in range(3):
        borrow(d)
    e = 25
    after = [sys.getrefcount(x) for x in (a, b, c, d)]
    return before == after, before


print(main())
f = Thing()
n = sys.getrefcount(f)
g = f
print(sys.getrefcount(f) - n)
del g
print(sys.getrefcount(f) - n, sys.getrefcount(f))
