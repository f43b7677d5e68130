"""Instance attributes that are properties or descriptors: looking at the object must not run them."""

import weakref

runs = []


class Lazy:
    def __get__(self, obj, owner):
        runs.append("descriptor")
        return 42


class Model:
    lazy = Lazy()

    @property
    def expensive(self):
        runs.append("property")
        raise RuntimeError("should not be asked")

    @classmethod
    @property
    def on_class(cls):
        runs.append("class property")
        return 1

    def __getattr__(self, name):
        runs.append(name)
        raise AttributeError(name)


class Proxy:
    __slots__ = ("target",)

    def __init__(self, target):
        object.__setattr__(self, "target", target)

    def __getattribute__(self, name):
        runs.append("proxy " + name)
        return getattr(object.__getattribute__(self, "target"), name)


a = Model()
b = Proxy(a)
c = weakref.proxy(a)
d = [a, b, c]
print(runs)
print(a.lazy, b.lazy, c.lazy, runs)
