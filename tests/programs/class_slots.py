"""__slots__: no __dict__, an unset slot, a subclass that has one, a slot that shadows."""


class Point:
    __slots__ = ("x", "y", "__weakref__")

    def __init__(self, x):
        self.x = x


class Named(Point):
    __slots__ = ("name",)


class Open(Point):
    pass


p = Point(3)
n = Named(4)
o = Open(5)
try:
    p.z = 1
except AttributeError as error:
    print(type(error).__name__, hasattr(p, "__dict__"))
try:
    p.y
except AttributeError:
    print("y is not set")
n.name = "n"
n.y = 30
o.z = 31
print(n.x, n.y, n.name, o.x, vars(o), Point.x.__get__(o), Named.__slots__)
del n.x
print(hasattr(n, "x"))
