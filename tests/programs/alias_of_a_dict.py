"""Objects that show what another one holds: views, and the dicts of instances and functions."""

import types


class Point:
    def __init__(self, x):
        self.x = x


class Slotted:
    __slots__ = ("__dict__", "a")


def views():
    d = {"a": 1}
    ks, vs, items = d.keys(), d.values(), d.items()
    d["b"] = 2
    x = 1
    del d["a"]
    x = 2
    d.update(c=3)
    x = 3
    d.clear()
    x = 4
    held = [d.keys()]
    d["z"] = 0
    x = 5
    d |= {"y": 1}
    x = 6
    return ks, vs, items, held, x


def in_a_callee(d, view):
    d["new"] = 1
    x = len(view)
    return x


def instances():
    p = Point(1)
    names = p.__dict__
    names["y"] = 2
    x = 1
    p.z = 3
    x = 2
    other = vars(p)
    del other["x"]
    x = 3
    other.update(w=4)
    x = 4
    q = Point(5)
    again = getattr(q, "__dict__")
    again["k"] = 1
    x = 5
    q.__dict__ = {"swapped": True}
    x = 6
    own = {"mine": 1}
    q.__dict__ = own
    own["more"] = 2
    x = 7
    q.more = 3
    x = 8
    s = Slotted()
    s.a = 1
    named = s.__dict__
    named["b"] = 2
    x = 9
    s.b = 3
    x = 10
    space = types.SimpleNamespace(a=1)
    inner = vars(space)
    inner["b"] = 2
    x = 11
    space.b = 3
    x = 12
    r = Point(1)
    r2 = Point(2)
    r2.__dict__ = r.__dict__
    r.x = 10
    x = 13
    r2.y = 11
    x = 14
    return x


def functions():
    def f():
        return 1

    names = f.__dict__
    names["note"] = "a"
    x = 1
    f.note = "b"
    x = 2
    del names["note"]
    x = 3
    f.other = [1]
    f.other.append(2)
    x = 4
    return x


def cells():
    value = [1]
    count = 0

    def f():
        return value, count

    cell, number = f.__closure__[1], f.__closure__[0]
    cell.cell_contents = [2]
    x = 1
    number.cell_contents = 5
    x = 2
    value.append(3)
    x = count
    inner = lambda: cell
    x = inner().cell_contents
    del cell.cell_contents
    x = 4
    return x


def proxies():
    d = {"a": [1]}
    proxy = types.MappingProxyType(d)
    d["b"] = 2
    x = proxy["b"]
    view = proxy.keys()
    d["c"] = 3
    x = 2
    return len(view), x


class Registry:
    table = {}
    names = table.keys()

    def add(self, name):
        self.table[name] = len(self.table)
        return self


def through_a_class():
    r = Registry()
    ks = r.table.keys()
    r.add("a").add("b")
    x = 1
    Registry.table["c"] = 2
    x = 2
    return len(ks), x


def of_globals():
    g = globals()
    g["made"] = 1
    x = 1
    g["made"] = 2
    x = made
    return x


held = {"a": 1}
d = {"b": 1}
ks = d.keys()
d["c"] = 2
print(views(), in_a_callee(held, held.keys()), instances(), functions(), cells(), proxies(), through_a_class(), of_globals(), ks)
