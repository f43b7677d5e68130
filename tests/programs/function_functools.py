"""lru_cache, partial, reduce, singledispatch, cached_property, total_ordering, cmp_to_key: C code that calls back."""

import functools


@functools.lru_cache(maxsize=2)
def square(n):
    print("computing", n)
    return n * n


print(square(2), square(3), square(2), square(4), square(3), square.cache_info())
print(functools.reduce(lambda a, b: print(a, b) or a * b, [1, 2, 3]), functools.partial(pow, 2, mod=5)(3))


@functools.singledispatch
def kind(x):
    return "object"


@kind.register
def _(x: int):
    return f"int, also {kind.dispatch(object)(x)}"


@functools.total_ordering
class Version:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        print("lt", self.n, other.n)
        return self.n < other.n

    __eq__ = lambda self, other: self.n == other.n

    @functools.cached_property
    def text(self):
        return print("made once") or f"v{self.n}"


v = Version(1)
print(kind(1), kind("s"), kind(True), v >= Version(2), v.text, v.text, vars(v))
print(sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)))
