"""A with block and a try inside generators: what they hold open is closed with the generator, in order."""

import contextlib


@contextlib.contextmanager
def held(name):
    print("open", name)
    try:
        yield name
    finally:
        print("close", name)


def lines(name):
    with held(name) as n, held(n + "2"):
        try:
            yield 1
            yield 2
        except ValueError as error:
            print("inside", error)
            yield 3
        finally:
            print("finally", name)


print(list(lines("a")))
g = lines("b")
next(g)
g.close()
h = lines("c")
print(next(h), h.throw(ValueError("thrown")))
del h
for x, y in zip(lines("d"), lines("e")):
    print(x, y)
    break
print("end")
