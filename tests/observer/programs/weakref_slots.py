import weakref


class S:
    __slots__ = ("v", "__weakref__")


class T:
    __slots__ = ("v",)


s = S()
s.v = [s]
t = T()
t.v = 1
print(weakref.getweakrefcount(s), s.__weakref__)
try:
    weakref.ref(t)
except TypeError as e:
    print(e)
