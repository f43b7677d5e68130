"""Reads the state in the C structures of objects, without running code of the program.

`holder` returns the type whose C structure an object has. The readers below support the common types of the
standard library. They call only C code of this type, also for an instance of a subclass. If there is no
reader for the holder, an object is marked as incomplete, whatever its class.
"""

import builtins
import datetime
import decimal
import functools
import io
import operator
import re
import struct
import sys
import types
import weakref
from collections.abc import Callable, Mapping
from contextvars import Context, ContextVar
from typing import Any, NamedTuple

from deskcheck.tracer.contents.introspection import (
    dict_offset_of,
    ids,
    made_by_code,
    names_of,
    names_of_module,
)

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

_base = type.__dict__["__base__"].__get__
_size = type.__dict__["__basicsize__"].__get__
_item_size = type.__dict__["__itemsize__"].__get__
_weak_offset = type.__dict__["__weakrefoffset__"].__get__
_POINTER = 8


def _has_structure(kind: type, base: type) -> bool:
    """Whether instances have memory beyond that of the base, other than slots, a dict and weak references."""
    size = _size(kind) - _size(base)
    if dict_offset_of(kind) and not dict_offset_of(base) and size >= _POINTER:
        size -= _POINTER  # not where the interpreter manages the dict: then there is no more to take away
    if _weak_offset(kind) > 0 and not _weak_offset(base):
        size -= _POINTER
    if made_by_code(kind):
        size -= _POINTER * sum(
            type(value) is types.MemberDescriptorType for value in list(names_of(kind).values())
        )
    return size > 0 or bool(_item_size(kind) and not _item_size(base))


def holder(kind: type) -> type | None:
    """The type itself, or its nearest base, that adds a C structure to instances.

    None if no base does: then the attributes are the full state of an instance.
    """
    base = _base(kind)
    while base is not None:
        if _has_structure(kind, base):
            return kind
        kind, base = base, _base(base)
    return None


class Part(NamedTuple):
    """The contents of an object's C structure."""

    items: tuple[Any, ...] = ()
    """Values in order."""
    fields: Mapping[str, Any] = {}
    """Values by name."""
    complete: bool = True
    """Whether nothing is left out."""
    keys: bool = False
    """Whether the items are pairs of key and value."""


def _descriptor(kind: type, name: str) -> Callable[[Any], Any]:
    read: Callable[[Any], Any] = names_of(kind)[name].__get__
    return read


# -- immutable values ----------------------------------------------------------------------------------

_zone_of_datetime = _descriptor(datetime.datetime, "tzinfo")
_zone_of_time = _descriptor(datetime.time, "tzinfo")
_TIME = ("hour", "minute", "second", "microsecond")
_DATE = ("year", "month", "day")


def _fields(kind: type, names: tuple[str, ...]) -> Callable[[Any], list[Any]]:
    readers = [_descriptor(kind, name) for name in names]
    return lambda obj: [read(obj) for read in readers]


_of_datetime = _fields(datetime.datetime, _TIME)
_of_date = _fields(datetime.date, _DATE)
_of_time = _fields(datetime.time, _TIME)
_fold_of_datetime = _descriptor(datetime.datetime, "fold")
_fold_of_time = _descriptor(datetime.time, "fold")


def has_known_zone(obj: Any) -> bool:
    """Whether the zone of a `datetime.datetime` or `datetime.time` has a complete text."""
    zone = (_zone_of_datetime if issubclass(type(obj), datetime.datetime) else _zone_of_time)(obj)
    return zone is None or text_of_zone(zone) is not None


def text_of_zone(zone: Any) -> str | None:
    """The `repr` of a `datetime.timezone`, or of a `ZoneInfo` with a key; else None."""
    kind: Any = type(zone)
    if kind is datetime.timezone:
        names = names_of(kind)["__getinitargs__"](zone)
        return kind.__repr__(zone) if all(type(name) in (datetime.timedelta, str) for name in names) else None
    if is_zone_info(kind):
        return str(kind.__repr__(zone)) if type(names_of(kind)["key"].__get__(zone)) is str else None
    return None


def is_zone_info(kind: type) -> bool:
    return names_of_module("zoneinfo").get("ZoneInfo") is kind and not made_by_code(kind)


def _naive(obj: Any) -> Any:
    """The same date and time as an instance of the builtin type, without zone."""
    if issubclass(type(obj), datetime.datetime):
        return datetime.datetime(*_of_date(obj), *_of_datetime(obj), fold=_fold_of_datetime(obj))
    return datetime.time(*_of_time(obj), fold=_fold_of_time(obj))


def _zoned(zone_of: Callable[[Any], Any]) -> Callable[[Any], Part]:
    def read(obj: Any) -> Part:
        zone = zone_of(obj)
        return Part((_naive(obj),), {} if zone is None else {"tzinfo": zone})

    return read


def text_of_pattern(pattern: Any) -> str | None:
    """The `repr` of a regular expression with the full pattern, which `repr` cuts after 200 characters."""
    text: str = re.Pattern.__repr__(pattern)
    source = _pattern(pattern)
    if type(source) is not str and type(source) is not bytes:
        return None
    source_text = repr(source)
    head = len("re.compile(")
    return text if len(source_text) <= 200 else f"{text[:head]}{source_text}{text[head + 200 :]}"


_pattern = _descriptor(re.Pattern, "pattern")
_MATCH = {name: _descriptor(re.Match, name) for name in ("string", "re", "pos", "endpos", "regs")}


def text_of_match(match: Any, limit: int) -> str | None:
    """The `repr` of a match, with the groups, the pattern, and up to `limit` characters of the searched
    string.

    None if that string is not of class `str` or `bytes`.
    """
    parts = {name: read(match) for name, read in _MATCH.items()}
    string, spans = parts["string"], parts["regs"]
    if type(string) is not str and type(string) is not bytes:
        return None
    text = re.Match.__repr__(match)[:-1]
    if len(spans) > 1:
        text += f", groups={spans[1:]!r}"
    if parts["pos"]:
        text += f", pos={parts['pos']}"
    if parts["endpos"] != len(string):
        text += f", endpos={parts['endpos']}"
    pattern = text_of_pattern(parts["re"])
    if pattern is None:
        return None
    string_text = repr(string[:limit]) if len(string) <= limit else f"{string[:limit]!r}... of {len(string)}"
    return f"{text}, re={pattern}, string={string_text}>"


# -- callables -----------------------------------------------------------------------------------------


def _getter(obj: Any) -> Part:
    kind = operator.itemgetter if issubclass(type(obj), operator.itemgetter) else operator.attrgetter
    return Part(names_of(kind)["__reduce__"](obj)[1])


def _method_caller(obj: Any) -> Part:
    made_by, arguments = names_of(operator.methodcaller)["__reduce__"](obj)
    if made_by is type(obj):
        return Part(arguments)
    return Part((*made_by.args, *arguments), dict(made_by.keywords))


def _members(kind: type, *names: str, complete: bool = True) -> Callable[[Any], Part]:
    readers = {name: _descriptor(kind, name) for name in names}

    def read(obj: Any) -> Part:
        return Part((), {name: read_member(obj) for name, read_member in readers.items()}, complete)

    return read


# -- views and containers ------------------------------------------------------------------------------


def _memory_view(view: Any) -> Part:
    """The bytes of a memoryview in order, up to `MEMORY_BYTES`, and the object whose memory it shows."""
    names = names_of(memoryview)
    try:
        size, shape = names["nbytes"].__get__(view), names["shape"].__get__(view)
    except ValueError:
        return Part((), {"released": True})
    visible = view
    if size > MEMORY_BYTES:
        first = max(1, MEMORY_BYTES * shape[0] // size)
        visible = names["__getitem__"](view, slice(0, first))
    data = names["tobytes"](visible)
    fields = {"data": data, "format": names["format"].__get__(view), "shape": shape}
    if names["readonly"].__get__(view) and type(names["obj"].__get__(view)) is not bytes:
        fields["readonly"] = True
    return Part((), {**fields, "obj": names["obj"].__get__(view)}, size <= MEMORY_BYTES)


MEMORY_BYTES = 10_000


def _cell(cell: Any) -> Part:
    try:
        return Part((), {"cell_contents": _descriptor(types.CellType, "cell_contents")(cell)})
    except ValueError:
        return Part()


def _reference(ref: Any) -> Part:
    """A weak reference: its object, or None if that is dead, and its callback."""
    callback = _descriptor(weakref.ref, "__callback__")(ref)
    return Part((names_of(weakref.ref)["__call__"](ref),), {} if callback is None else {"callback": callback})


_MISSING = object()


def _variable(variable: Any) -> Part:
    fields = {"name": _descriptor(ContextVar, "name")(variable)}
    value = variable.get(_MISSING)
    try:
        default = Context().run(variable.get)
    except LookupError:
        default = _MISSING
    for name, current in (("default", default), ("value", value)):
        if current is not _MISSING:
            fields[name] = current
    return Part((), fields)


def _context(context: Any) -> Part:
    """The variables sorted by name, because their own order depends on addresses."""
    name = _descriptor(ContextVar, "name")
    return Part(tuple(sorted(Context.items(context), key=lambda pair: str(name(pair[0])))), keys=True)


def _text_buffer(kind: Any) -> Callable[[Any], Part]:
    def read(buffer: Any) -> Part:
        try:
            return Part((), {"value": kind.getvalue(buffer), "position": kind.tell(buffer)})
        except ValueError:
            return Part((), {"closed": True})

    return read


_FILE_ATTRIBUTES = next(base for base in io.FileIO.__mro__ if "__dict__" in names_of(base))


def _raw_file(file: Any) -> Any:
    """The `FileIO` of an open file, if all layers above it are of the standard library."""
    if type(file) is io.TextIOWrapper:
        file = _descriptor(io.TextIOWrapper, "buffer")(file)
    if type(file) in (io.BufferedReader, io.BufferedWriter, io.BufferedRandom):
        file = _descriptor(type(file), "raw")(file)
    return file if type(file) is io.FileIO else None


def _file(file: Any) -> Part:
    """The name and mode of an open file, which do not change.

    Its content, its position, and whether it is closed are not shown.
    """
    try:
        raw = _raw_file(file)
    except (AttributeError, ValueError):  # it was detached, or has never been opened
        raw = None
    if raw is None:
        return Part((), {}, complete=False)
    name = _descriptor(_FILE_ATTRIBUTES, "__dict__")(raw).get("name")
    fields = {"name": name} if type(name) in (str, bytes, int) else {}
    return Part((), {**fields, "mode": _descriptor(io.FileIO, "mode")(raw)}, complete=False)


def _typed(kind: type) -> Callable[[Any], Part]:
    """The parts of ``list[int]`` and ``int | str``."""
    origin = None if kind is types.UnionType else names_of(kind).get("__origin__")  # 3.14: `Union`, of each

    def read(alias: Any) -> Part:
        first = () if origin is None else (origin.__get__(alias),)
        return Part((*first, *_descriptor(kind, "__args__")(alias)))

    return read


FILES = ids(io.FileIO, io.TextIOWrapper, io.BufferedReader, io.BufferedWriter, io.BufferedRandom)
"""Types of files, which show only their constant attributes."""

READERS: dict[int, Callable[[Any], Part]] = {
    id(kind): read
    for kind, read in {
        datetime.timedelta: lambda obj: Part((datetime.timedelta.__pos__(obj),)),
        datetime.date: lambda obj: Part((datetime.date(*_of_date(obj)),)),
        datetime.datetime: _zoned(_zone_of_datetime),
        datetime.time: _zoned(_zone_of_time),
        decimal.Decimal: lambda obj: Part((decimal.Decimal(obj),)),
        struct.Struct: _members(struct.Struct, "format"),
        types.GenericAlias: _typed(types.GenericAlias),
        types.UnionType: _typed(types.UnionType),
        operator.itemgetter: _getter,
        operator.attrgetter: _getter,
        operator.methodcaller: _method_caller,
        functools.partial: _members(functools.partial, "func", "args", "keywords"),
        property: _members(property, "fget", "fset", "fdel", "__doc__"),
        staticmethod: _members(staticmethod, "__func__"),
        classmethod: _members(classmethod, "__func__"),
        memoryview: _memory_view,
        types.CellType: _cell,
        weakref.ref: _reference,
        ContextVar: _variable,
        Context: _context,
        io.StringIO: _text_buffer(io.StringIO),
        io.BytesIO: _text_buffer(io.BytesIO),
    }.items()
}
READERS |= dict.fromkeys(FILES, _file)
if sys.version_info >= (3, 14):  # PEP 750
    _template = eval('t"{0}"')  # no text that other versions can read
    READERS[id(type(_template))] = _members(type(_template), "strings", "interpolations")
    _interpolation = type(_template.interpolations[0])
    READERS[id(_interpolation)] = _members(_interpolation, "value", "expression", "conversion", "format_spec")
if sys.version_info >= (3, 15):  # PEP 814
    _frozen_items: Any = vars(builtins)["frozendict"].items
    READERS[id(vars(builtins)["frozendict"])] = lambda obj: Part(tuple(_frozen_items(obj)), keys=True)

POINTERS = ids(
    *(operator.itemgetter, operator.attrgetter, operator.methodcaller, functools.partial),
    *(property, staticmethod, classmethod, types.GenericAlias, types.UnionType),
    *(types.CellType, types.MappingProxyType, weakref.ref),
)
"""Types whose C structure is pointers to all parts of an instance. An instance has changed only if one of the
pointers has."""
