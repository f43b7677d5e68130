"""enum, Flag, namedtuple, typing.NamedTuple, SimpleNamespace, mappingproxy: classes made by the library."""

import collections
import enum
import types
import typing


class Colour(enum.Enum):
    RED = 10
    GREEN = "green"
    CRIMSON = 10

    @property
    def short(self):
        return self.name[0]


class Permission(enum.Flag):
    R = enum.auto()
    W = enum.auto()


class Row(typing.NamedTuple):
    a: int
    b: str = "b"

    def both(self):
        return f"{self.a}{self.b}"


Point = collections.namedtuple("Point", "x y", defaults=[31])
print(Colour.RED is Colour.CRIMSON, Colour(10).name, Colour["GREEN"].value, [c.short for c in Colour])
print((Permission.R | Permission.W).value, Permission.R in Permission(3), list(Permission(3)) == [Permission.R, Permission.W])
p = Point(34)
print(p, p._replace(x=0), p == (34, 31), p._asdict(), Row(36).both(), Row(1)[1:], Row._fields)
n = types.SimpleNamespace(a=1)
n.me = n
m = types.MappingProxyType({"k": [1]})
m["k"].append(2)
print(n, m["k"], len(m))
