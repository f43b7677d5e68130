"""Recursion to the limit: RecursionError is caught, and the program goes on as usual."""

import sys

deepest = 0


def down(n):
    global deepest
    deepest = n
    down(n + 1)


try:
    down(0)
except RecursionError as error:
    print(type(error).__name__, str(error)[:32])
print(800 < deepest <= sys.getrecursionlimit(), sys.getrecursionlimit())


def safe(n):
    try:
        return safe(n + 1)
    except RecursionError:
        return n


print(safe(0) > 800, sum(range(10)))
