"""gc.get_objects and gc.get_referrers from inside the program: only stable facts are printed."""

import gc


class Thing:
    pass


def referrers(x):
    return [type(r).__name__ for r in gc.get_referrers(x) if type(r).__name__ in ("dict", "list", "tuple", "Thing")]


gc.collect()
a = Thing()
b = [a]
print(list(map(type, gc.get_objects())).count(Thing))
print(any(r is b for r in gc.get_referrers(a)), gc.is_tracked(a), gc.is_tracked(20), gc.isenabled())


def local_only():
    c = [Thing()]
    return referrers(c[0])


print(local_only())
print(gc.get_referents(b) == [a], gc.callbacks, gc.get_debug(), len(gc.garbage))
a = b = None
print(list(map(type, gc.get_objects())).count(Thing))
