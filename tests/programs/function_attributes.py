"""Functions as objects: attributes, annotations, replaced code and defaults, methods bound and unbound."""

import types


def f(a: int, b: "str" = 6) -> list[int]:
    """Doc."""
    local: "never evaluated" = 8
    return [a, b, local]


f.calls = 12
print(f.calls, f.__annotations__, f.__name__, f.__doc__, f.__module__)
g = types.FunctionType(f.__code__.replace(co_name="g"), {"__builtins__": {}}, "renamed", (15,))
print(g(1), g.__name__, g.__code__.co_name)
f.__defaults__ = (17,)
f.__code__ = (lambda a, b: (a, b, "new code")).__code__
print(f(1))


class C:
    def m(self, x=23):
        return self.tag, x


c = C()
c.tag = "c"
bound = c.m
print(bound(), C.m(c, 1), bound.__self__ is c, bound.__func__ is C.m, c.m is c.m)
c.m = types.MethodType(lambda self: "instance " + self.tag, c)
print(c.m(), bound())
