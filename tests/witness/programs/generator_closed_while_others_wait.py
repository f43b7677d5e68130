"""A generator dies by a name that a waiting generator shares: what its `finally` changes is seen at once."""

import itertools

shared = []


def careful(n):
    try:
        for i in range(n):
            yield i
    finally:
        shared.append(0)


def f():
    g = careful(3)

    def inner():
        list(itertools.islice(g, 2))
        yield 1

    waiting = inner()
    next(waiting)
    for _ in range(2):
        g = 0
    return list(shared), waiting


seen = f()[0]
