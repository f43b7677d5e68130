"""An uncaught exception: what was printed stays, finally runs, exit status 1, the traceback on stderr."""

import atexit

atexit.register(print, "atexit")


class Problem(Exception):
    def __str__(self):
        print("str called")
        return "described once"


def fail(n):
    try:
        if n == 0:
            raise Problem("not shown")
        fail(n - 1)
    finally:
        print("finally", n)


print("before")
fail(2)
print("never")
