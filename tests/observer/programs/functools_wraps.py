import functools, inspect


def deco(f):
    @functools.wraps(f)
    def w(*a):
        return f(*a) + 1

    return w


@deco
def g(x):
    "doc of g"
    return x


print(g(1), g.__name__, g.__doc__, inspect.unwrap(g)(1), functools.partial(g, 4)())


class A:
    @functools.cached_property
    def v(self):
        print("once")
        return 3


a = A()
print(a.v, a.v, vars(a))
