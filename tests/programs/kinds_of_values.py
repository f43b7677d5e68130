"""Values of many kinds of the standard library: what C code holds of them, and how it changes in place."""

import argparse
import collections
import contextvars
import datetime
import decimal
import enum
import functools
import io
import operator
import pathlib
import re
import struct
import types
import weakref
import zoneinfo


class Span(datetime.timedelta):
    pass


class Price(decimal.Decimal):
    unit = "EUR"


class Place(type(pathlib.Path())):
    pass


class Flags(enum.IntFlag):
    A = 1
    B = 2


class Node:
    def __init__(self, name):
        self.name = name


class Buffer(io.StringIO):
    pass


class Zone(datetime.tzinfo):
    def __init__(self, hours):
        self.hours = hours

    def utcoffset(self, when):
        return datetime.timedelta(hours=self.hours)

    def dst(self, when):
        return None


def immutable():
    paris = zoneinfo.ZoneInfo("Europe/Paris")
    when = datetime.datetime(2024, 3, 31, 2, 30, tzinfo=paris)
    at = datetime.time(1, tzinfo=zoneinfo.ZoneInfo("Asia/Tokyo"))
    zone = Zone(2)
    own = datetime.datetime(2024, 1, 1, tzinfo=zone)
    zone.hours = 3
    span = Span(3)
    span.unit = "days"
    price = Price("1.50")
    place = Place("/a") / "b"
    flags = Flags.A | Flags(8)
    either = int | Node
    pairs = [list[int], dict[str, Node], int | None]
    found = re.match("(a)(b)?", "abc")
    header = struct.Struct("<H")
    return when, at, own, span, price, place, flags, either, pairs, found, header


def getters():
    by = operator.itemgetter(1, 2)
    name = operator.attrgetter("name.real")
    call = operator.methodcaller("split", ",", maxsplit=1)
    shared = [16]
    part = functools.partial(max, shared)
    shared.append(17)
    prop = property(by, doc="second and third")
    return by([0, 1, 2]), call("a,b,c"), part(), name, prop


def changing():
    options = argparse.Namespace(verbose=1, files=[])
    options.files.append("a")
    options.verbose += 1
    data = bytearray(b"abc")
    view = memoryview(data)[1:]
    view[0] = 120
    names = {"a": 1}
    proxy = types.MappingProxyType(names)
    names["b"] = [2]
    names["b"].append(3)
    buffer = Buffer("one")
    buffer.write("two")
    node = Node("n")
    alive = weakref.ref(node)
    node.name += "!"
    del node
    queue = collections.deque([1], 3)
    queue.extend([2, 3, 4])
    order = collections.OrderedDict(a=1, b=2)
    items = order.items()
    order.move_to_end("a")
    view.release()
    return options, data, proxy, buffer.getvalue(), alive(), queue, list(items)


CURRENT = contextvars.ContextVar("CURRENT", default=0)


def variables():
    token = CURRENT.set(1)
    inside = contextvars.copy_context()
    inside.run(CURRENT.set, 2)
    CURRENT.reset(token)
    return CURRENT.get(), inside[CURRENT]


def cells(start):
    def step():
        nonlocal start
        start += 1
        return start

    cell = step.__closure__[0]
    step()
    return cell.cell_contents


print([str(one) for one in immutable()[:6]])
print(getters()[:3])
print(changing()[1:4])
print(variables(), cells(1))
