"""Many kinds of values: two that differ never have equal complete recordings, and the common ones are complete.

Not: what is built of builtins alone (test_snapshot), how arrays and tables look (test_arrays).
"""

import argparse
import array
import ast
import collections
import contextlib
import contextvars
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import inspect
import io
import ipaddress
import json
import logging
import operator
import optparse
import os
import pathlib
import queue
import random
import re
import string
import struct
import sys
import threading
import time
import types
import typing
import urllib.parse
import uuid
import weakref
import zoneinfo
from typing import Any

import pytest

from deskcheck.recording import Value, decode, render
from deskcheck.tracer.contents.c_state import holder
from deskcheck.tracer.result import WHOLE
from deskcheck.tracer.snapshot import Snapshotter

numpy = pytest.importorskip("numpy", reason="kinds of numpy's values are among those compared")

PARIS, TOKYO = zoneinfo.ZoneInfo("Europe/Paris"), zoneinfo.ZoneInfo("Asia/Tokyo")


def sub(base: Any) -> Any:
    """A subclass in Python that adds nothing."""
    return type(base)(f"Sub{base.__name__}", (base,), {"__module__": __name__})


def moved(obj: Any, name: str, *arguments: Any) -> Any:
    """The object after a method of it was called."""
    getattr(obj, name)(*arguments)
    return obj


def having(obj: Any, **attributes: Any) -> Any:
    for name, value in attributes.items():
        setattr(obj, name, value)
    return obj


def variable(value: int, **default: int) -> contextvars.ContextVar[int]:
    """A context variable that the running context gives a value."""
    made: contextvars.ContextVar[int] = contextvars.ContextVar("v", **default)
    made.set(value)
    return made


def context(value: int) -> contextvars.Context:
    made = contextvars.Context()
    made.run(VARIABLE.set, value)
    return made


VARIABLE: contextvars.ContextVar[int] = contextvars.ContextVar("VARIABLE")


class Flags(enum.IntFlag):
    A = 1
    B = 2


class Zone(datetime.tzinfo):
    """A zone of the program's own, whose methods are not to run."""

    def __init__(self, name: str) -> None:
        self.name = name

    def utcoffset(self, when: object) -> datetime.timedelta:
        raise AssertionError("the program's code has run")

    tzname = dst = utcoffset  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise AssertionError("the program's code has run")


class Own:
    pass


ONE, OTHER = having(Own(), x=1), having(Own(), x=2)
TD, DATE, DATETIME = datetime.timedelta, datetime.date, datetime.datetime
STRUCTURED = [("x", "i4"), ("y", "f8")]


def records(*rows: Any, dtype: Any = STRUCTURED) -> Any:
    return numpy.array(list(rows), dtype=dtype)


COMPLETE: dict[str, tuple[Any, Any]] = {
    "datetime with a zone": (DATETIME(2024, 1, 1, tzinfo=PARIS), DATETIME(2024, 1, 1, tzinfo=TOKYO)),
    "datetime with the program's zone": (
        DATETIME(2024, 1, 1, tzinfo=Zone("a")),
        DATETIME(2024, 1, 1, tzinfo=Zone("b")),
    ),
    "datetime fold": (DATETIME(2024, 1, 1, fold=1), DATETIME(2024, 1, 1)),
    "time with a zone": (datetime.time(1, tzinfo=PARIS), datetime.time(1, tzinfo=TOKYO)),
    "zone": (PARIS, TOKYO),
    "fixed zone": (datetime.timezone(TD(hours=1)), datetime.timezone(TD(hours=1), "X")),
    "timedelta subclass": (sub(TD)(1), sub(TD)(2)),
    "date subclass": (sub(DATE)(2020, 1, 1), sub(DATE)(2020, 1, 2)),
    "datetime subclass": (sub(DATETIME)(2020, 1, 1, tzinfo=PARIS), sub(DATETIME)(2020, 1, 1, tzinfo=TOKYO)),
    "datetime subclass to the microsecond": (
        sub(DATETIME)(2020, 1, 1),
        sub(DATETIME)(2020, 1, 1, 0, 0, 0, 1),
    ),
    "time subclass": (sub(datetime.time)(1), sub(datetime.time)(1, fold=1)),
    "subclass with an attribute": (having(sub(TD)(1), unit="s"), having(sub(TD)(1), unit="h")),
    "decimal": (decimal.Decimal("1.5"), decimal.Decimal("1.50")),
    "decimal subclass": (sub(decimal.Decimal)("1.5"), sub(decimal.Decimal)("1.50")),
    "fraction subclass": (sub(fractions.Fraction)(1, 3), sub(fractions.Fraction)(1, 2)),
    "path": (pathlib.Path("/x"), pathlib.Path("x")),
    "path subclass": (sub(type(pathlib.Path()))("/x"), sub(type(pathlib.Path()))("/y")),
    "windows path": (pathlib.PureWindowsPath("a"), pathlib.PureWindowsPath("b")),
    "complex subclass": (sub(complex)(1, 2), sub(complex)(1, 3)),
    "bytes subclass": (sub(bytes)(b"a"), sub(bytes)(b"b")),
    "frozenset subclass": (sub(frozenset)([1]), sub(frozenset)([2])),
    "tuple subclass": (sub(tuple)([1]), sub(tuple)([2])),
    "array": (array.array("i", [1]), array.array("q", [1])),
    "array subclass": (sub(array.array)("i", [1]), sub(array.array)("i", [2])),
    "uuid": (uuid.UUID(int=1), uuid.UUID(int=2)),
    "address": (ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("10.0.0.2")),
    "network": (ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("10.0.0.0/16")),
    "namespace": (argparse.Namespace(a=1), argparse.Namespace(a=2)),
    "namespace subclass": (sub(argparse.Namespace)(a=1), sub(argparse.Namespace)(a=2)),
    "simple namespace": (types.SimpleNamespace(a=1), types.SimpleNamespace(a=2)),
    "partial": (functools.partial(int, base=2), functools.partial(int, base=3)),
    "partial subclass": (sub(functools.partial)(int, base=2), sub(functools.partial)(int, base=3)),
    "partial method": (functools.partialmethod(print, 1), functools.partialmethod(print, 2)),
    "item getter": (operator.itemgetter(1, 2), operator.itemgetter(1, 3)),
    "attribute getter": (operator.attrgetter("a.b"), operator.attrgetter("a.c")),
    "method caller": (operator.methodcaller("a", 1, k=2), operator.methodcaller("a", 1, k=3)),
    "text buffer": (io.StringIO("abc"), moved(io.StringIO("abc"), "seek", 1)),
    "text buffer subclass": (sub(io.StringIO)("a"), sub(io.StringIO)("b")),
    "bytes buffer": (io.BytesIO(b"a"), io.BytesIO(b"b")),
    "union": (int | str, int | bytes),
    "alias": (dict[str, list[int]], dict[str, list[str]]),
    "flags": (Flags.A | Flags.B, Flags.A),
    "flags without a name": (Flags(8), Flags(16)),
    "memory": (memoryview(b"abc"), memoryview(b"abd")),
    "memory in steps": (memoryview(b"abcd")[::2], memoryview(b"abcd")[1::2]),
    "memory of another format": (memoryview(b"abcd").cast("i"), memoryview(b"abcd").cast("f")),
    "memory of another shape": (
        memoryview(b"abcd").cast("B", [2, 2]),
        memoryview(b"abcd").cast("B", [4, 1]),
    ),
    "proxy of a dict": (types.MappingProxyType({1: 2}), types.MappingProxyType({1: 3})),
    "deque": (collections.deque([1]), collections.deque([1], 4)),
    "default dict": (collections.defaultdict(int), collections.defaultdict(list)),
    "counter": (collections.Counter("ab"), collections.Counter("aab")),
    "ordered dict": (
        moved(collections.OrderedDict({1: 1, 2: 2}), "move_to_end", 1),
        collections.OrderedDict({1: 1, 2: 2}),
    ),
    "items of an ordered dict": (collections.OrderedDict(a=1).items(), collections.OrderedDict(a=2).items()),
    "chain map": (collections.ChainMap({1: 2}), collections.ChainMap({1: 3})),
    "user dict": (collections.UserDict(a=1), collections.UserDict(a=2)),
    "pattern": (re.compile("a"), re.compile("a", re.I)),
    "long pattern": (re.compile("a" * 250 + "b"), re.compile("a" * 250 + "c")),
    "match": (re.match("a", "ab"), re.match("a", "ac")),
    "match with groups": (re.match("(a)b", "ab"), re.match("a(b)", "ab")),
    "match in a part": (re.compile("b").match("ab", 1), re.compile("b").search("ab")),
    "property": (property(len), property(len, doc="b")),
    "static method": (staticmethod(len), staticmethod(abs)),
    "struct": (struct.Struct("<H"), struct.Struct("<I")),
    "context variable": (contextvars.ContextVar("a"), contextvars.ContextVar("b")),
    "context variable with a default": (contextvars.ContextVar("a"), contextvars.ContextVar("a", default=1)),
    "context variable with a value": (variable(1), variable(2)),
    "context variable set to its default": (variable(1, default=1), contextvars.ContextVar("v", default=1)),
    "context": (context(1), context(2)),
    "weak reference": (weakref.ref(ONE), weakref.ref(OTHER)),
    "cell": (types.CellType(1), types.CellType(2)),
    "file error": (OSError(1, "a", "f"), OSError(1, "a", "g")),
    "parsed address": (urllib.parse.urlparse("http://a"), urllib.parse.urlparse("http://b")),
    "syntax tree": (ast.parse("a"), ast.parse("b")),
    "context manager": (contextlib.nullcontext(1), contextlib.nullcontext(2)),
    "template": (string.Template("$a"), string.Template("$b")),
    "structured array": (records((1, 2.0)), records((1, 3.0))),
    "structured array by its names": (
        records((1,), dtype=[("x", "i4")]),
        records((1,), dtype=[("y", "i4")]),
    ),
    "structured array by parts of its dtype": (
        records(((1, 2),), dtype=[("x", "i4", (2,))]),
        records(((1, 2),), dtype=[("x", "i8", (2,))]),
    ),
    "structured item": (records((1, 2.0))[0], records((1, 3.0))[0]),
    "structured item by its names": (
        records((1,), dtype=[("x", "i4")])[0],
        records((1,), dtype=[("y", "i4")])[0],
    ),
    "record array": (
        numpy.rec.array([(1, 2)], names="a,b"),
        numpy.rec.array([(1, 2)], names="a,c"),
    ),
    "masked array": (numpy.ma.array([1, 2], mask=[0, 1]), numpy.ma.array([1, 2], mask=[0, 0])),
    "masked array by its fill value": (
        numpy.ma.array([1], fill_value=3),
        numpy.ma.array([1], fill_value=4),
    ),
    "array of objects": (numpy.array([None, [1]], dtype=object), numpy.array([None, [2]], dtype=object)),
    "date of numpy": (numpy.datetime64("2020-01-01"), numpy.datetime64("2020-01-01T00")),
    "dtype": (numpy.dtype("i4"), numpy.dtype([("a", "i4")])),
    "function of numpy": (numpy.add, numpy.subtract),
}

OPAQUE: dict[str, Any] = {
    "random generator": random.Random(1),
    "random generator subclass": sub(random.Random)(1),
    "random generator of numpy": numpy.random.default_rng(1),
    "hash": hashlib.sha256(b"a"),
    "lock": threading.Lock(),
    "thread": threading.Thread(name="a"),
    "thread subclass": sub(threading.Thread)(name="a"),
    "local data subclass": sub(threading.local)(),
    "queue": queue.SimpleQueue(),
    "logger": logging.getLogger("a"),
    "encoder": json.JSONEncoder(indent=1),
    "options": optparse.OptionParser(),
    "signature": inspect.signature(len),
    "code": (lambda: 1).__code__,
    "status of a file": os.stat("/"),
    "structured time": time.gmtime(0),
    "generic alias": typing.List[int],  # noqa: UP006
    "open environment": os.environ,
    "scanner": re.compile("a").scanner("a"),  # type: ignore[attr-defined]
}


def value_of(obj: object) -> Value:
    """As recorded where the classes of this module are the program's own."""
    snapshots = Snapshotter(WHOLE, {__name__}, lambda frame: None)
    snapshots.begin()
    (text,), _ = snapshots.roots([obj])
    objects = {number: json.loads(content) for number, content in snapshots.finish().items()}
    return decode(json.loads(text), objects)


@pytest.mark.parametrize("name", COMPLETE)
def test_two_that_differ_have_two_complete_recordings(name: str) -> None:
    """Both are shown whole, and their texts differ."""
    one, other = map(value_of, COMPLETE[name])
    assert one.whole
    assert other.whole
    assert render(one) != render(other)
    assert render(one) == render(value_of(COMPLETE[name][0]))


def test_classes_of_one_name_are_told_apart() -> None:
    """Also as parts of a union or of a generic alias."""
    other: Any = type("Own", (), {"__module__": __name__})
    value = value_of((int | Own, int | other, list[Own], list[other]))
    parts = [one.items[1].id for one in value.items]
    assert value.whole
    assert parts == [parts[0], parts[1]] * 2
    assert parts[0] != parts[1]


@pytest.mark.parametrize("name", OPAQUE)
def test_what_is_not_shown_is_not_called_complete(name: str) -> None:
    """State in a C structure that nobody can read, and a library's machinery, are marked as left out."""
    assert not value_of(OPAQUE[name]).whole


def test_an_open_file_has_its_name(tmp_path: pathlib.Path) -> None:
    """Its name and mode, also once it is closed; the rest is marked as left out."""
    path = tmp_path / "a.txt"
    with open(path, "w") as file:
        shown = [value_of(file), value_of(file.buffer)]
    for value in (*shown, value_of(file)):
        assert {name: field.atom for name, field in value.fields} == {"name": str(path), "mode": "wb"}
        assert not value.whole


def test_an_attribute_is_shown_beside_state_that_is_not() -> None:
    """The attributes of an object are shown, whatever its C structure holds."""
    value = value_of(having(sub(random.Random)(1), label="a"))
    assert dict(value.fields)["label"].atom == "a"
    assert value.cut == "opaque"


def test_none_of_the_program_runs() -> None:
    """Methods of a subclass that would answer for the object are not asked."""

    def fails(*_: object) -> Any:
        raise AssertionError("the program's code has run")

    names: tuple[str, ...] = (
        "__repr__",
        "__reduce__",
        "__reduce_ex__",
        "__getstate__",
        "__iter__",
        "__eq__",
        "__hash__",
    )
    names += ("__getattribute__", "__add__", "__pos__", "__str__", "isoformat", "replace", "getvalue")
    for base, arguments in [
        (TD, (1,)),
        (DATE, (2020, 1, 1)),
        (DATETIME, (2020, 1, 1)),
        (io.StringIO, ("a",)),
    ]:
        kind: Any = type("Odd", (base,), dict.fromkeys(names, fails))
        value = value_of(kind(*arguments))
        assert value.whole, base


class Slotted:
    __slots__ = ("__dict__", "__weakref__", "a", "b")


class Plain(typing.Generic[typing.TypeVar("T")]): ...  # type: ignore[misc]


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        *(
            (kind, None)
            for kind in (object, Own, Slotted, sub(Slotted), Plain, Zone, enum.Enum, io.RawIOBase)
        ),
        *((sub(kind), kind) for kind in (int, str, tuple, bytes, dict, list, set, TD, property, io.StringIO)),
        (sub(weakref.ref), weakref.ref),
        (sub(OSError), OSError),
        (collections.Counter, dict),
        (random.Random, random.Random.__base__),
        (sub(numpy.ndarray), numpy.ndarray),
    ],
)
def test_the_type_whose_structure_an_object_has(kind: type, base: type | None) -> None:
    """Slots, a dict and weak references are no structure of C, however the interpreter lays them out."""
    assert holder(kind) is base


def test_a_released_buffer_says_so() -> None:
    view = memoryview(b"abc")
    view.release()
    assert dict(value_of(view).fields)["released"].atom is True


def test_a_large_buffer_is_cut() -> None:
    value = value_of(memoryview(bytes(1_000_000)))
    assert not value.whole


def test_versions_have_their_names() -> None:
    """A tuple that C code makes shows the names of its items."""
    assert render(value_of(sys.version_info)).startswith("sys.version_info(major=3, ")
