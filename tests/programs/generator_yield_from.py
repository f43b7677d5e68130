"""yield from: values, sends and throws pass through; the return value is its value."""


def inner(name):
    try:
        got = yield f"{name} 1"
        print(name, "got", got)
        yield f"{name} 2"
    except ValueError as error:
        yield f"{name} handled {error}"
    return f"{name} done"


def outer():
    result = yield from inner("a")
    print(result)
    result = yield from inner("b")
    print(result)
    yield from [1, 2]
    yield from ()
    result = yield from outermost()
    return result


def outermost():
    return "never ran a yield"
    yield


g = outer()
print(next(g), g.send("hello"), next(g), g.throw(ValueError("x")), next(g), next(g), next(g, "end"))


def tree(t):
    if t:
        left, value, right = t
        yield from tree(left)
        yield value
        yield from tree(right)


print(list(tree((((), 1, ()), 2, ((), 3, ())))))
