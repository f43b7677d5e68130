"""__repr__ that raises, loops for ever, exits, mutates or recurses: the objects are only passed around."""

import os


class Raises:
    def __repr__(self):
        raise ValueError("in repr")


class Endless:
    def __repr__(self):
        while True:
            pass


class Exits:
    def __repr__(self):
        os._exit(77)


class Mutates:
    def __init__(self):
        self.n = 0
        self.__repr__ = None

    def __repr__(self):
        self.n += 1
        return "x" * 10_000_000


class Recurses:
    def __repr__(self):
        return repr([self])


def carry(*things):
    held = list(things)
    by_name = {type(t).__name__: t for t in held}
    return by_name


things = carry(Raises(), Endless(), Exits(), Mutates(), Recurses())
print(list(things), things["Mutates"].n)
for name in ("Raises", "Recurses"):
    try:
        repr(things[name])
    except Exception as error:
        print(type(error).__name__)
