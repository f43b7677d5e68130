"""Instances that die unseen, as those of classes with __slots__: another one may lie at the address."""

import collections


class S:
    __slots__ = ("n",)

    def __init__(self, n):
        self.n = n

    def __radd__(self, other):
        return other + self.n

    def __lt__(self, other):
        return self.n < other.n

    def next(self):
        return S(self.n + 1)


def some(count):
    for n in range(count):
        yield S(n)


def pair(n):
    return S(n), [S(n + 1)]


def kept(count):
    made = [S(n) for n in range(count)]
    for one in made:
        yield one


total = sum(some(4))
largest = max(some(3))
numbers = [s.n for s in map(S, range(3))]
ordered = [s.n for s in sorted(kept(3), key=lambda s: -s.n)]
a, (b,) = pair(5)
c = a.next().next()
held = list(kept(2))
print(total, largest.n, numbers, ordered, a.n, b.n, c.n, [s.n for s in held])

class Plain:
    __slots__ = ("a", "b")


collections.deque((Plain() for _ in range(4)), maxlen=0)
print(len([Plain() for _ in range(3)]))
