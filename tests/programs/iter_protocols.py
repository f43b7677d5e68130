"""Iteration by __iter__, by __getitem__, by a sentinel, with StopIteration raised by hand, and __reversed__."""


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        print("iter")
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration("done")
        self.n -= 1
        return self.n


class Old:
    def __getitem__(self, i):
        print("getitem", i)
        if i == 2:
            raise IndexError
        return i * 10


class Both:
    def __reversed__(self):
        return iter("reversed")

    __iter__ = None


c = Countdown(3)
print(next(c), [x for x in c], list(c))
for x in Old():
    print(x)
print(10 in Old(), list(zip(Old(), "ab")))
print("".join(reversed(Both())))
try:
    iter(Both())
except TypeError as error:
    print(type(error).__name__)
a, b = Countdown(2)
print(a, b, *Countdown(1), max(Countdown(2)))
