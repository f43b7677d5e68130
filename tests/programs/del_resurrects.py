"""__del__ that brings its object back to life: it is finalised once, and then stays dead silently."""

import gc

kept = []


class Phoenix:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)
        kept.append(self)


a = Phoenix("a")
a = None
print([p.name for p in kept])
kept.clear()
print("second death is silent")
b = Phoenix("b")
b.me = b
del b
gc.collect()
print([p.name for p in kept], kept[0].me is kept[0])
kept.clear()
print(gc.collect() > 0, kept)
