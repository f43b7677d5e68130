"""Weak references that a program counts: a tracer that takes one is noticed, and `ndarray.resize` fails."""

import weakref


class Plain:
    pass


class Slots:
    __slots__ = ("x", "__weakref__")


def function():
    return 1


def looks(thing, plain):
    numbers = {1, 2}
    inner = lambda: plain
    drawn = (n for n in numbers)
    slots = Slots()
    everything = [thing, plain, numbers, function, inner, drawn, slots, ValueError("no")]
    counts = []
    for one in everything:
        try:
            counts.append(weakref.getweakrefcount(one))
        except TypeError:
            counts.append(None)
    return counts, plain.__weakref__, slots.__weakref__


thing = Plain()
print(looks(thing, Plain()))
mine = weakref.ref(thing, lambda ref: print("died", ref is mine))
print(weakref.getweakrefcount(thing), thing.__weakref__ is mine)
classes = [Plain, Slots]
print([weakref.getweakrefcount(kind) for kind in classes])  # the base class has one on each
del thing
print(mine())
