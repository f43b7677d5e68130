"""Comprehensions in functions: they call, shadow a local, see closures, and leave the outer name as it was."""


def square(n):
    result = n * n
    return result


def main(x):
    a = [square(x) for x in range(3)]
    b = {x: y for x in a if x for y in [square(x)]}
    print(x, a, b)
    i = "outer"
    c = [(i, j) for i in range(2) for j in [x]]
    print(i, c, sorted(locals()))
    return lambda n: [x * y for y in range(n)]


print(main(10)(4))


def unbound():
    [u for u in range(2)]
    try:
        return u
    except NameError:
        return "u never leaked"


print(unbound(), (lambda: [k for k in "lambda" if k > "b"])(), [f() for f in [lambda: 1, lambda: square(5)]])
