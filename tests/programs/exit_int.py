"""sys.exit(3) in a function: finally and atexit run, the status is 3."""

import atexit
import sys


def leave(n):
    try:
        sys.exit(n)
    finally:
        print("finally")


atexit.register(print, "atexit")
leave(3)
print("never")
