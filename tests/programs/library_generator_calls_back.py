"""Generators of a library call recorded functions back while a C function of a recorded frame runs them."""

import tokenize
import heapq


class Holder:
    def __init__(self, gen):
        self.gen = gen

    def one(self):
        try:
            return next(self.gen)
        except StopIteration:
            return None


def readline():
    x = 1
    return ""


def key(x):
    y = x
    return y


def local(gen):
    a = next(gen)
    b = [next(gen), next(gen)]
    c = list(gen)
    for d in gen:
        pass
    return a


h = Holder(tokenize.generate_tokens(readline))
h.one()
h.one()
local(heapq.merge([1, 5], [2, 3, 9], [4, 6], key=key))
Holder(heapq.merge([1, 5], [2, 3, 9], [4, 6], key=key)).one()
k = Holder(heapq.merge([1, 5], [2, 3, 9], [4, 6], key=key))
k.one()
k.one()
k.one()
z = sorted(heapq.merge([1, 5], [2, 3, 9], [4, 6], key=key), key=key)
end = 1
