"""Functions: defaults, keywords, positional-only, keyword-only, star arguments, and what stands in their locals."""


def f(a, b=4, /, c=5, *rest, d, e=6, **more):
    g = [a, b]
    return sorted(locals().items(), key=lambda item: item[0])


print(f(1, d=2))
print(f(1, 2, 3, 4, 5, d=6, e=7, h=8, a=9))
print(f(*"xy", **{"d": 1, "c": 2}))
for bad in ({}, {"d": 1, "b": 2}):
    try:
        print(f(1, **bad))
    except TypeError as error:
        print(error)
try:
    f()
except TypeError as error:
    print(error)


def nothing():
    pass


print(nothing(), f.__defaults__, f.__kwdefaults__, f.__code__.co_varnames)
