"""Classes and instances changed at run time: a method replaced, __class__ assigned, a class made with type()."""


class A:
    def f(self):
        return "A.f"


class B:
    def f(self):
        return "B.f"


a = A()
f = a.f
A.f = lambda self: "replaced"
print(a.f(), f())
a.__class__ = B
print(a.f(), type(a).__name__)
C = type("C", (A,), {"x": 20, "f": lambda self: super(C, self).f() + " below C"})
print(C().f(), C.x, C.__module__)
del A.f
try:
    C().f()
except AttributeError as error:
    print(type(error).__name__)
a.__dict__["f"] = lambda: "from the instance"
print(a.f(), vars(a).keys())
a.__dict__ = {"g": 30}
print(a.g, a.f())
B.__name__ = "Renamed"
print(type(a).__name__, B.__qualname__)
