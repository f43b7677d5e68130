"""Plain values as JSON and back: what crosses between a program and the check of its answers.

Whatever bytes come in, only builtin values come out, so that nothing of a hostile program's making, no
`__eq__` and no `__reduce__`, gets to where its answer is compared. An object of a subclass crosses as what
it is beneath: a Counter as a dict, a namedtuple as a tuple.
"""

import json
from typing import Any

_SMALL = 1 << 53


class CannotCross(Exception):
    """The value is not plain."""


def dumps(value: Any) -> bytes:
    """Raises CannotCross."""
    try:
        return json.dumps(_encoded(value)).encode()
    except RecursionError:
        raise CannotCross("a value inside itself, or too deep") from None


def loads(data: bytes) -> Any:
    """Raises CannotCross where these are not bytes of `dumps`."""
    try:
        return _decoded(json.loads(data))
    except (ValueError, TypeError, KeyError, OverflowError, MemoryError, RecursionError) as error:
        raise CannotCross(f"not a plain value: {type(error).__name__}") from None


def _encoded(value: Any) -> Any:
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
    if kind is complex:
        return ["complex", value.real, value.imag]
    if kind is range:
        return ["range", *map(_encoded, (value.start, value.stop, value.step))]
    if issubclass(kind, dict):
        return ["dict", *([_encoded(key), _encoded(item)] for key, item in dict.items(value))]
    for base in (list, tuple, set, frozenset):
        if issubclass(kind, base):
            members = base.__dict__["__iter__"].__get__(value)()  # not the iteration of a subclass
            return [base.__name__, *map(_encoded, members)]
    for base in _BYTES.values():
        if issubclass(kind, base):
            return [base.__name__, base.__dict__["hex"].__get__(value)()]
    raise CannotCross(f"{kind.__name__!r} is not a plain type")


_MADE: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
_BYTES: dict[str, Any] = {"bytes": bytes, "bytearray": bytearray}


def _decoded(form: Any) -> Any:
    if not isinstance(form, list):
        if isinstance(form, dict):
            raise ValueError("an object")
        return form
    name, *parts = form
    if name in _MADE:
        return _MADE[name](map(_decoded, parts))
    if name == "dict":
        return {_decoded(key): _decoded(item) for key, item in parts}
    if name == "int":
        return int(str(parts[0]), 16)
    if name in _BYTES:
        return _BYTES[name].fromhex(*parts)
    if name == "complex":
        return complex(*parts)
    if name == "range":
        return range(*map(_decoded, parts))
    raise ValueError(f"{name!r}")
