"""Values die between two lines, and code that is not recorded changes others for it: weak references call back."""

import weakref


class Thing:
    def __init__(self, name):
        self.name = name


def watched():
    seen = []
    thing = Thing("a")
    held = weakref.ref(thing, seen.append)
    count = 1
    thing = None
    count = 2
    count = 3
    return len(seen), held() is None, count


def finalised():
    seen = []
    thing = Thing("b")
    weakref.finalize(thing, seen.append, "gone")
    count = 1
    thing = 5
    count = 2
    count = 3
    return seen, count


def values():
    known = weakref.WeakValueDictionary()
    thing = Thing("c")
    known["c"] = thing
    count = 1
    thing = None
    count = 2
    count = 3
    return len(known), count


def members():
    known = weakref.WeakSet()
    thing, other = Thing("d"), Thing("e")
    known.add(thing)
    known.add(other)
    for thing in range(3):
        count = thing
        count += 1
    return len(known), count, other


def in_a_cycle():
    import gc

    seen = []
    thing = Thing("f")
    thing.self = thing
    weakref.finalize(thing, seen.append, "collected")
    thing = None
    count = 1
    gc.collect()
    count = 2
    return seen, count


def in_a_list():
    seen = []
    things = [Thing("g"), Thing("h")]
    weakref.finalize(things[0], seen.append, "g")
    count = 1
    things = 0
    count = 2
    count = 3
    return seen, count, things


print(watched(), finalised(), values(), members(), in_a_cycle(), in_a_list())
