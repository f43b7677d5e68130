import inspect


def f():
    raise KeyError("k")


try:
    f()
except KeyError:
    print(
        [(r.function, r.lineno) for r in inspect.trace()],
        len(inspect.innerframes(__import__("sys").exc_info()[2])),
    )
