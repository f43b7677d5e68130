"""Weak references: callbacks at the line where the object dies; nobody else makes weak references to it."""

import weakref


class Thing:
    def __init__(self, name):
        self.name = name


a = Thing("a")
r = weakref.ref(a, lambda ref: print("a died", ref() is None))
s = weakref.ref(a)
weakref.finalize(a, print, "finalize a")
print(weakref.getweakrefcount(a), r() is a, s is weakref.ref(a))
by_key = weakref.WeakKeyDictionary({a: "value"})
by_name = weakref.WeakValueDictionary(a=a)
pool = weakref.WeakSet([a])
print(len(by_key), len(by_name), len(pool))
a = 20
print(len(by_key), len(by_name), len(pool), r())


def leave():
    b = Thing("b")
    weakref.finalize(b, print, "finalize b")
    c = Thing("c")
    print(weakref.getweakrefcount(b), weakref.getweakrefs(c))
    return weakref.proxy(c), weakref.WeakMethod(Thing("d").__init__)


p, m = leave()
try:
    p.name
except ReferenceError as error:
    print("proxy is dead", m())
