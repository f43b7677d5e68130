"""sys.exception() in nested handlers, in a generator, after a handler: the interpreter's own book-keeping."""

import sys


def now():
    return repr(sys.exception())


def generator():
    print("g start", now())
    try:
        raise KeyError("in generator")
    except KeyError:
        yield now()
        print("g resumed", now())
    yield now()


print(now())
try:
    raise ValueError("outer")
except ValueError:
    g = generator()
    print(next(g), now())
    try:
        raise TypeError("inner")
    except TypeError as error:
        print(now(), repr(error.__context__))
    print(now(), next(g))
print(now())
