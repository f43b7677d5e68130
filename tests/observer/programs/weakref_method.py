import weakref


class A:
    def m(self):
        return 7


a = A()
w = weakref.WeakMethod(a.m)
print(w()(), weakref.getweakrefcount(a))
del a
print(w())
