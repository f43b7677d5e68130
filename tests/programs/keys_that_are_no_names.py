"""Dictionaries of attributes with keys that are no texts, or of a class made from text."""

import functools
import types


class Text(str):
    pass


def plain(a, b=2, *, c=3):
    return a, b, c


def made():
    n = [1]

    def inner(k=4):
        return n, k

    inner.__dict__[7] = n
    inner.tag = n
    return inner


ODD = (5, (1, 2), None, 2.5, b"key", Text("text"), frozenset({1}), len)

plain.tag = [1]
for key in ODD:
    plain.__dict__[key] = [key == 5]
plain.tag.append(2)
plain.__kwdefaults__ = {"c": 5, 6: 7, Text("d"): [8]}
plain.__kwdefaults__[Text("d")].append(9)


class Watched(dict):
    def keys(self):
        called.append("keys")
        return super().keys()

    def items(self):
        called.append("items")
        return super().items()

    def __iter__(self):
        called.append("iter")
        return super().__iter__()

    def __getitem__(self, key):
        called.append("item")
        return super().__getitem__(key)

    def __len__(self):
        called.append("len")
        return super().__len__()


class Telling(str):
    def __contains__(self, part):
        called.append("contains")
        return super().__contains__(part)

    def __radd__(self, other):
        called.append("radd")
        return str(other) + str(self)

    def __format__(self, how):
        called.append("format")
        return super().__format__(how)

    def __str__(self):
        called.append("str")
        return super().__str__()

    def __eq__(self, other):
        called.append("eq")
        return super().__eq__(other)

    def __hash__(self):
        called.append("hash")
        return super().__hash__()


called = []


def watched(a, *, b=1):
    return a


watched.__dict__ = Watched(note=[1])
watched.note.append(2)
watched.__kwdefaults__ = Watched(b=[3])
dict.__getitem__(watched.__kwdefaults__, "b").append(4)
watched.__defaults__ = ([1], [2], [3])
watched.__defaults__[2].append(5)
watched.__qualname__ = Telling("by another name")
watched.__name__ = Telling("name")
bound = types.MethodType(watched, [1])


def yields():
    yield 1


going = yields()
going.__qualname__ = Telling("yields as")
next(going)
called.append("end")


class Open:
    pass


one = Open()
one.name = [1]
for key in ODD:
    one.__dict__[key] = 1
one.__dict__[Text("text")] = 2
one.name.append(3)

room = types.SimpleNamespace(a=[1])
for key in ODD:
    room.__dict__[key] = 1
room.a.append(2)

part = functools.partial(plain, 1)
part.tag = [1]
part.__dict__[5] = 2
part.__dict__[Text("own")] = 3
part.tag.append(4)

error = ValueError("wrong")
error.note = [1]
error.__dict__[5] = 2
error.__dict__[Text("own")] = 3
error.note.append(4)

odd_class = type("odd_class", (), {"data": [1], Text("own"): 3})
odd_class.data.append(2)
of_it = odd_class()
of_it.x = odd_class

cached = functools.lru_cache(plain)
cached.__dict__ = Watched(__qualname__="cached", note=[1])
cached.__dict__[5] = 6
cached(1)
called.append("cached")

method = made()
kept = method
method.tag.append(5)

held = types.MethodType(plain, one)

globals()[5] = 6
globals()[Text("seven")] = [7]
globals()[(1, 2)] = 8


def late():
    x = [1]
    y = one
    x.append(globals()[5])
    return x, y


late()
end = 1
