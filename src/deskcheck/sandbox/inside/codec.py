"""Values as JSON and back, between a program and the check of its answers. Standard library only.

Decoding gives only values of the standard library's types and arrays of numbers, whatever the bytes are. So
no `__eq__` of a hostile program can affect the comparison of its answer. An object of a subclass becomes an
object of its base, for example a namedtuple a tuple. Each mutable object has a number, in the order of first
occurrence, so that it is sent once and both sides recognise it.
"""

import builtins
import importlib
import json
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_SMALL = 1 << 53


class CannotCross(Exception):
    """The value's type cannot be encoded."""


class OwnWord(CannotCross):
    """The value is an object of the program with its own `__eq__`."""


class Raised(Exception):
    """An exception of the program whose class cannot be encoded."""


Stay = Callable[[Any], int]
"""Gives the number of a function or an iterator, which stays in its process. Numbers of the other side's own
objects are negative."""
StandIn = Callable[[str, int, str], Any]
"""Makes a stand-in for a function or an iterator of the other side, from its kind, number and name."""


def _stays(value: Any) -> int:
    raise CannotCross(f"{type(value).__name__!r} is not a plain type")


def _stands_in(kind: str, number: int, name: str) -> Any:
    raise CannotCross(f"a {kind} from elsewhere")


def dumps(value: Any) -> bytes:
    """A value as bytes. Raises CannotCross."""
    return PlainEncoder().dumps(value)


def loads(data: bytes) -> Any:
    """The value from bytes of `dumps`. Raises CannotCross for other bytes."""
    return PlainDecoder().loads(data)


class PlainEncoder:
    """Writes the values of one message. Afterwards, `objects` has all objects with a number.

    Args:
        shared: objects that both sides have, in the order of their numbers.
    """

    def __init__(self, shared: Sequence[Any] = (), stays: Stay = _stays) -> None:
        self.objects = list(shared)
        self._numbers = {id(value): number for number, value in enumerate(self.objects)}
        self._written: set[int] = set()
        self._stays = stays

    def dumps(self, value: Any) -> bytes:
        """A value as bytes. Raises CannotCross."""
        try:
            return json.dumps(self._form(value)).encode()
        except RecursionError:
            raise CannotCross("a value that is too deep") from None

    def _form(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind in (bool, float):
            return value
        if issubclass(kind, str):
            return str.__getitem__(value, slice(None))
        if issubclass(kind, int):
            number = int.__add__(value, 0)
            return number if -_SMALL < number < _SMALL else ["int", hex(number)]
        if issubclass(kind, float):
            return float.__add__(value, 0.0)
        if issubclass(kind, complex):
            return ["complex", complex.__add__(value, 0).real, complex.__add__(value, 0).imag]
        if kind in (range, slice):
            return [kind.__name__, *map(self._form, (value.start, value.stop, value.step))]
        if value is Ellipsis or value is NotImplemented:
            return ["constant", repr(value)]
        for fixed in (tuple, frozenset):
            if issubclass(kind, fixed):
                return [fixed.__name__, *map(self._form, _members(fixed, value))]
        if issubclass(kind, bytes):
            return ["bytes", bytes.hex(value)]
        if kind in _DICTS or kind is defaultdict:
            return self._numbered(kind, value)
        for base in (list, dict, set, bytearray, deque):
            if issubclass(kind, base):
                return self._numbered(base, value)
        if kind in _VIEWS:
            return [str(kind.__name__), *map(self._form, value)]
        return self._other(kind, value)

    def _numbered(self, base: type, value: Any) -> Any:
        number = self._numbers.setdefault(id(value), len(self.objects))
        if number == len(self.objects):
            self.objects.append(value)
        if number in self._written:
            return ["again", number]
        self._written.add(number)
        if base is bytearray:
            return ["bytearray", number, bytearray.hex(value)]
        if issubclass(base, dict):
            more = [self._form(value.default_factory)] if base is defaultdict else []
            pairs = ([self._form(k), self._form(v)] for k, v in base.items(value))
            return [base.__name__, number, *more, *pairs]
        if base is deque:
            longest = deque.__dict__["maxlen"].__get__(value)
            return ["deque", number, longest, *map(self._form, _members(deque, value))]
        if base in (list, set):
            return [base.__name__, number, *map(self._form, _members(base, value))]
        if value.dtype.kind not in _ARRAYS:
            raise CannotCross(f"an array of {value.dtype.name}")
        return ["ndarray", number, value.dtype.str, list(value.shape), value.tobytes().hex()]

    def _other(self, kind: type, value: Any) -> Any:
        numpy: Any = sys.modules.get("numpy")
        if numpy is not None:
            if kind is numpy.ndarray:
                return self._numbered(kind, value)
            if issubclass(kind, numpy.generic) and value.dtype.kind in _ARRAYS:
                return ["number", value.dtype.str, value.tobytes().hex()]
        for name, (parts, _) in _STANDARD.items():
            module, _, member = name.partition(".")
            base: Any = getattr(sys.modules.get(module), member, None)
            if base is not None and issubclass(kind, base):
                return [name, *map(self._form, parts(base, value))]
        if issubclass(kind, BaseException):
            return self._error(kind, value)
        if issubclass(kind, type):
            name = type.__dict__["__name__"].__get__(value)
            if getattr(builtins, name, None) is value:
                return ["class", name]
        elif hasattr(kind, "__next__"):
            return ["iterator", self._stays(value), ""]
        elif callable(value):
            return ["function", self._stays(value), str(getattr(value, "__name__", "function"))]
        elif kind.__module__ == "__main__" and kind.__eq__ is not object.__eq__:
            raise OwnWord(f"{kind.__name__!r} says itself what it is equal to")
        raise CannotCross(f"{kind.__name__!r} is not a plain type")

    def _error(self, kind: type[BaseException], error: BaseException) -> Any:
        """An exception as its name, builtin base class, arguments, text and other attributes."""
        mro: tuple[type, ...] = type.__dict__["__mro__"].__get__(kind)
        base = next(ancestor for ancestor in mro if getattr(builtins, ancestor.__name__, None) is ancestor)
        try:
            text = None if kind is base else str(error)
        except Exception:  # noqa: BLE001 - the program's own
            text = ""
        args = self._form_or_none(error.args)
        if args is None:
            args, text = ["tuple"], str(error) if text is None else text
        fields: dict[Any, Any] = vars(error)
        named = [
            (key, value) for key, value in fields.items() if type(key) is str and not key.startswith("__")
        ]
        more = [[key, form] for key, value in named if (form := self._form_or_none((value,))) is not None]
        return ["error", kind.__name__, base.__name__, args, text, more]

    def _form_or_none(self, value: tuple[Any, ...]) -> Any:
        """The form of a value; None if it cannot be encoded."""
        objects, written = [*self.objects], {*self._written}
        try:
            return self._form(value)
        except CannotCross:
            self.objects, self._written = objects, written
            self._numbers = {id(member): number for number, member in enumerate(objects)}
            return None


_DICTS = (OrderedDict, Counter)
_VIEWS = tuple(map(type, ({}.keys(), {}.values(), {}.items())))
_ARRAYS = "biufcSUmM?"
"""Kinds of items of arrays (``numpy.dtype.kind``) that are plain values."""


def _members(base: type, value: Any) -> Iterable[Any]:
    """The members of a container, without the `__iter__` of a subclass."""
    members: Iterable[Any] = base.__dict__["__iter__"].__get__(value)()
    return members


def _fields(*names: str) -> Callable[[type, Any], list[Any]]:
    return lambda base, value: [_field(base, name, value) for name in names]


def _field(base: type, name: str, value: Any) -> Any:
    for ancestor in base.__mro__:
        if name in ancestor.__dict__:
            return ancestor.__dict__[name].__get__(value)
    raise CannotCross(name)


_DATE = ("year", "month", "day")
_TIME = ("hour", "minute", "second", "microsecond", "tzinfo", "fold")
_Parts = Callable[[type, Any], Iterable[Any]]
_STANDARD: dict[str, tuple[_Parts, Callable[..., Any]]] = {
    "decimal.Decimal": (
        lambda base, value: [base.__dict__["__str__"].__get__(value)()],
        lambda kind, text: kind(str(text)),
    ),
    "fractions.Fraction": (_fields("_numerator", "_denominator"), lambda kind, *parts: kind(*parts)),
    "datetime.datetime": (
        _fields(*_DATE, *_TIME),
        lambda kind, *parts: kind(*parts[:-1], fold=parts[-1]),
    ),
    "datetime.date": (_fields(*_DATE), lambda kind, *parts: kind(*parts)),
    "datetime.time": (_fields(*_TIME), lambda kind, *parts: kind(*parts[:-1], fold=parts[-1])),
    "datetime.timedelta": (
        _fields("days", "seconds", "microseconds"),
        lambda kind, *parts: kind(*parts),
    ),
    "datetime.timezone": (
        lambda base, value: [base.utcoffset(value, None)],  # type: ignore[attr-defined]
        lambda kind, *parts: kind(*parts),
    ),
    "zoneinfo.ZoneInfo": (_fields("key"), lambda kind, key: kind(str(key))),
    "uuid.UUID": (_fields("int"), lambda kind, number: kind(int=number)),
}
"""Functions that give the parts of a value, and make a value from parts, by type of the standard library. A
subclass comes before its base."""


class PlainDecoder:
    """Reads the values of one message. Afterwards, `objects` has all objects with a number.

    Args:
        shared: objects that both sides have, in the order of their numbers. They get the contents that the
            message gives them.
    """

    def __init__(self, shared: Sequence[Any] = (), stands_in: StandIn = _stands_in) -> None:
        self.objects = dict(enumerate(shared))
        self._read: set[int] = set()
        self._stands_in = stands_in

    def loads(self, data: bytes) -> Any:
        """The value from bytes of a `PlainEncoder`. Raises CannotCross for other bytes."""
        try:
            return self._value(json.loads(data))
        except (ArithmeticError, AttributeError, ImportError, LookupError, TypeError, ValueError) as error:
            raise CannotCross(f"not a plain value: {type(error).__name__}") from None
        except (MemoryError, RecursionError) as error:
            raise CannotCross(f"not a plain value: {type(error).__name__}") from None

    def _value(self, form: Any) -> Any:
        if not isinstance(form, list):
            if isinstance(form, dict):
                raise ValueError("an object")
            return form
        name, *parts = form
        if name in _NUMBERED:
            return self._numbered(name, *parts)
        match form:
            case ["tuple", *items]:
                return tuple(map(self._value, items))
            case ["frozenset", *items]:
                return frozenset(map(self._value, items))
            case ["int", str(text)]:
                return int(text, 16)
            case ["bytes", str(text)]:
                return bytes.fromhex(text)
            case ["complex", real, imaginary]:
                return complex(real, imaginary)
            case ["range", start, stop, step]:
                return range(*map(self._value, (start, stop, step)))
            case ["slice", start, stop, step]:
                return slice(*map(self._value, (start, stop, step)))
            case ["constant", str(text)]:
                return {"Ellipsis": Ellipsis, "NotImplemented": NotImplemented}[text]
            case ["again", int(number)]:
                if number not in self._read:
                    raise ValueError("an object that was not told")
                return self.objects[number]
            case ["dict_keys", *items]:
                return dict.fromkeys(map(self._value, items)).keys()
            case ["dict_values", *items]:
                return dict(enumerate(map(self._value, items))).values()
            case ["dict_items", *items]:
                return dict(map(self._value, items)).items()
            case ["number", str(kind), str(data)]:
                return _array(kind, [1], data)[0]
            case ["error", str(kind), str(base), args, text, [*more]]:
                arguments = self._value(args)
                attributes = {str(key): self._value(form)[0] for key, form in more}
                return _made_error(kind, base, arguments, text, attributes)
            case ["class", str(kind)]:
                builtin = getattr(builtins, kind)
                if not isinstance(builtin, type):
                    raise ValueError(kind)
                return builtin
            case [("function" | "iterator") as kind, int(number), str(title)]:
                return self._stands_in(kind, number, title)
            case [str(kind), *values] if kind in _STANDARD:
                return _made(kind, [self._value(value) for value in values])
        raise ValueError(f"{name!r}")

    def _numbered(self, kind: str, number: int, *parts: Any) -> Any:
        if type(number) is not int or number in self._read:
            raise ValueError("an object that was told before")
        self._read.add(number)
        target: Any = self.objects.get(number)
        if kind == "ndarray":
            array = _array(*parts)
            if target is None:
                self.objects[number] = array
            elif (target.shape, target.dtype) == (array.shape, array.dtype):
                target[...] = array
            else:  # its shape was set
                raise ValueError("an array of another shape")
            return self.objects[number]
        base: Any = _NUMBERED[kind]
        if kind == "deque":
            longest, *parts = parts  # type: ignore[assignment]
            target = deque(maxlen=longest) if target is None else target
        if kind == "defaultdict":
            factory, *parts = parts  # type: ignore[assignment]
            target = defaultdict(self._value(factory)) if target is None else target
        target = base() if target is None else target
        self.objects[number] = target  # before its members, of which it may be one
        if not isinstance(target, base):
            raise ValueError("an object of another type")
        if kind == "bytearray":
            (text,) = parts
            target[:] = bytes.fromhex(text)
        elif issubclass(base, dict):
            pairs = [(self._value(key), self._value(value)) for key, value in parts]
            target.clear()
            for key, value in pairs:  # an update of a Counter adds
                target[key] = value
        else:
            items = [self._value(part) for part in parts]
            base.clear(target)
            (base.update if kind == "set" else base.extend)(target, items)
        return target


_NUMBERED: dict[str, type] = {
    "list": list,
    "dict": dict,
    "OrderedDict": OrderedDict,
    "Counter": Counter,
    "defaultdict": defaultdict,
    "set": set,
    "bytearray": bytearray,
    "deque": deque,
    "ndarray": object,
}


def _array(kind: Any, shape: Any, data: Any) -> Any:
    try:
        import numpy
    except ImportError:
        raise CannotCross("an array, and there is no numpy where the check runs") from None
    dtype = numpy.dtype(str(kind))
    if dtype.kind not in _ARRAYS or dtype.hasobject or not all(type(size) is int for size in shape):
        raise ValueError("no plain array")
    return numpy.frombuffer(bytes.fromhex(data), dtype).reshape(shape).copy()


def _made(name: str, parts: list[Any]) -> Any:
    module, _, member = name.partition(".")
    return _STANDARD[name][1](getattr(importlib.import_module(module), member), *parts)


_OURS = frozenset({"CannotCross", "NotCompared"})
"""Names of exceptions that decide a verdict when they leave a check."""


def _made_error(kind: str, base: str, args: Any, text: Any, attributes: dict[str, Any]) -> BaseException:
    """An exception like that of the program: with its builtin base class, its name and its text."""
    parent = getattr(builtins, base, None)
    if not (isinstance(parent, type) and issubclass(parent, BaseException)) or type(args) is not tuple:
        raise ValueError("no exception")
    if kind in _OURS or not kind.isidentifier():
        kind = Raised.__name__
    kind_made: type[BaseException] = parent
    if text is not None:
        shown_text = str(text)
        members = {"__module__": "__main__", "__str__": lambda _: shown_text}
        kind_made = types.new_class(kind, (parent,), exec_body=lambda names: names.update(members))
    try:
        error = kind_made(*args)
    except Exception:  # noqa: BLE001 - a class that takes other arguments
        return Raised(f"{kind}: {args!r:.200}")
    error.__dict__.update(attributes)
    return error
