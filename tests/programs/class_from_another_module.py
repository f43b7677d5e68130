"""A class says that it comes from another module: it is no class of the program's own then."""

from collections import namedtuple


class Moved:
    data = [1]

    def __init__(self):
        self.n = 1


class Named:
    data = [2]


class Back:
    __module__ = "elsewhere"
    data = [3]


def change(cls, module):
    held = {"cls": cls, "all": [cls]}
    made = cls()
    before = cls
    cls.__module__ = module
    after = cls
    again = cls()
    held["after"] = again
    cls.data.append(4)
    cls.__module__ = "__main__"
    end = cls
    cls.data.append(5)
    return held


kept = change(Moved, "elsewhere")
kept = change(Named, "collections")
kept = change(Back, "__main__")
Moved.__qualname__ = "Other.Moved"
one = Moved()
Moved.__name__ = "Renamed"
two = Moved()
Point = namedtuple("Point", "x y", module="elsewhere")
Point.__module__ = "__main__"
p = Point(1, 2)
end = 1
