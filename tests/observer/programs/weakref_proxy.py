import weakref


class A:
    x = 3

    def __len__(self):
        return 9


a = A()
p = weakref.proxy(a)
print(p.x, len(p), weakref.getweakrefcount(a), len(weakref.getweakrefs(a)))
del a
try:
    p.x
except ReferenceError as e:
    print(e)
