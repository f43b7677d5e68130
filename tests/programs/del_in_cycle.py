"""__del__ and weakref callbacks of objects in cycles: they wait for the collector, and run in it once."""

import gc
import weakref

gc.collect()


class Node:
    def __init__(self, name, other=None):
        self.name = name
        self.other = other

    def __del__(self):
        print("del", self.name, "holding", self.other.name)


a = Node("a")
a.other = a
watch = weakref.ref(a, lambda ref: print("callback, dead:", ref() is None))
a = None
print("unreachable, alive:", watch() is not None)
print("collected", gc.collect() > 0)
print(watch())


def leave():
    b = Node("b")
    c = Node("c", b)
    b.other = c
    return weakref.ref(b), weakref.ref(c)


refs = leave()
print([r() is not None for r in refs])
del refs
gc.collect()
print("end")
