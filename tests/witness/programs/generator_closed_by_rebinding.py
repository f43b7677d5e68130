"""A generator that waits in another is closed where the last variable that leads to it is bound anew."""

import itertools
shared = []
def careful(n):
    got = []
    try:
        for i in range(n):
            got.append((yield i))
    except ValueError as error:
        yield 'caught'
    finally:
        shared.append(len(got))
    return got
def through(inner):
    kept = []
    try:
        kept.append((yield from inner))
    except KeyError:
        kept.append('key')
        yield kept
    return kept
def f1():
    g = through(careful(2))
    any1 = list(itertools.islice(g, 2))
    any2 = itertools.chain([1], g)
    g = None
    any2 = 1
    x = 3
f1()
