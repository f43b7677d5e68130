"""MemoryError and OverflowError from impossible requests: caught, and nothing is lost."""

import sys

a = [3]
try:
    b = a * sys.maxsize
except MemoryError as error:
    print(repr(error), a)
try:
    c = [None] * (sys.maxsize + 1)
except OverflowError as error:
    print(error)
try:
    d = 2.0**10_000
except OverflowError as error:
    print(error.args[1])
print([name for name in "bcd" if name in globals()])
