"""Operators and attributes of the program's classes that run code of the library."""

import collections
import collections.abc
import dataclasses
import functools
import operator


class Lazy:
    def __init__(self):
        self.log = []

    @functools.cached_property
    def total(self):
        self.log.append("computed")
        return 3


class Table(collections.UserDict):
    pass


class Names(collections.UserList):
    def first(self):
        return self.data[0]


class Sized(collections.abc.MutableMapping):
    def __init__(self):
        self.kept = {}

    def __getitem__(self, key):
        return self.kept[key]

    def __setitem__(self, key, value):
        self.kept[key] = value

    def __delitem__(self, key):
        del self.kept[key]

    def __iter__(self):
        return iter(self.kept)

    def __len__(self):
        return len(self.kept)


class Pops:
    def __init__(self):
        self.items = [1, 2, 3]

    last = property(operator.methodcaller("take"))

    def take(self):
        return self.items.pop()


class Drains:
    """Reading the attribute changes the object, in code that is not recorded."""

    def __init__(self):
        self.items = [1, 2, 3]


exec("def pop(self): return self.items.pop()\ndef push(self, value): self.items.append(value)", hidden := {})
Drains.top = property(hidden["pop"], hidden["push"])
Drains.__add__ = lambda self, other: other
Drains.__iadd__ = hidden["pop"] and (lambda self, other: self)
Drains.__sub__ = hidden["push"]


@functools.total_ordering
@dataclasses.dataclass
class Version:
    parts: list

    def __lt__(self, other):
        return self.parts < other.parts


class Logged:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        self.__dict__.setdefault("log", []).append(name)

    def __delattr__(self, name):
        object.__delattr__(self, name)


class Typed:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, owner=None):
        return self if obj is None else obj.__dict__.get(self.name)

    def __set__(self, obj, value):
        obj.__dict__[self.name] = [value]


class Uses:
    field = Typed()


def attributes():
    lazy = Lazy()
    a = lazy.total
    x = 1
    a = lazy.total
    x = 2
    pops = Pops()
    a = pops.last
    x = 3
    drains = Drains()
    a = drains.top
    x = 4
    drains.top = 5
    x = 5
    drains - 6
    x = 6
    logged = Logged()
    logged.a = 1
    x = 7
    del logged.a
    x = 8
    uses = Uses()
    uses.field = 1
    x = 9
    uses.field = 2
    x = 10
    return a, x


def items():
    table = Table(a=1)
    table["b"] = 2
    x = 1
    del table["a"]
    x = 2
    table |= {"c": 3}
    x = 3
    names = Names([1])
    names += [2]
    x = 4
    names[0] = 5
    x = 5
    sized = Sized()
    sized["a"] = 1
    x = 6
    sized.setdefault("b", 2)
    x = 7
    sized.update((key, 1) for key in "cd")
    x = 8
    del sized["a"]
    x = 9
    old, new = Version([1]), Version([2])
    x = old < new, old >= new
    old.parts += [3]
    x = 10
    return x


print(attributes(), items())
