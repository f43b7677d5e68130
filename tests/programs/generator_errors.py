"""Generators: StopIteration inside becomes RuntimeError; an exception leaves and ends them."""


def leaks():
    yield 1
    raise StopIteration("by hand")


try:
    print(list(leaks()))
except RuntimeError as error:
    print(error, "because of", repr(error.__cause__))


def takes(it):
    while True:
        yield next(it)


g = takes(iter([1]))
print(next(g))
try:
    next(g)
except RuntimeError as error:
    print(error)


def failing():
    yield 1
    yield 1 / 0


for x in [1]:
    try:
        for y in failing():
            print(x, y)
    except ZeroDivisionError as error:
        print(error)
