import functools


@functools.lru_cache(maxsize=2)
def f(n):
    print("computed", n)
    return n * 2


f(1)
f(2)
f(1)
f(3)
f(2)
print(f.cache_info())


@functools.singledispatch
def show(x):
    return "any"


@show.register
def _(x: int):
    return "int"


print(show(1), show("s"), functools.reduce(lambda a, b: a + b, [1, 2, 3]))
