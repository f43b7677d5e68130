"""Recursion through C code, up to the interpreter's limit on that (3.12 and later have one of its own)."""

import functools


class Held:
    def __init__(self, number):
        self.number = number


@functools.lru_cache(maxsize=None)
def deeper(number):
    held = Held(1.5 * number)
    pair = {b"kept": number}
    return number if number > 5000 else deeper(number + 1) + len(pair) + held.number


try:
    print(deeper(0))
except RecursionError:
    print("too deep")
