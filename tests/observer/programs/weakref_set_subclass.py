import weakref


class Bag(set):
    pass


b = Bag([1, 2])
fz = frozenset([3])


def work(x, y):
    z = x | y
    return weakref.getweakrefcount(x), weakref.getweakrefcount(z), weakref.getweakrefs(x)


print(work(b, fz))
