"""Generators looked at from outside: their state, their frame's line and locals, without moving them."""

import inspect


def steps(a):
    b = a + 1
    yield b
    c = [b]
    got = yield from inner(c)
    return got


def inner(items):
    for item in items:
        yield item


g = steps(3)
print(inspect.getgeneratorstate(g), inspect.getgeneratorlocals(g))
print(next(g), inspect.getgeneratorstate(g), inspect.getgeneratorlocals(g), g.gi_frame.f_lineno)
print(next(g), g.gi_yieldfrom.__name__, g.gi_yieldfrom.gi_frame.f_locals["item"], g.gi_running)
print(next(g, "done"), inspect.getgeneratorstate(g), g.gi_frame, g.gi_yieldfrom)


def me():
    yield inspect.getgeneratorstate(this), this.gi_running


this = me()
print(next(this), list(this))
