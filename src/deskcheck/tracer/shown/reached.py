"""The functions and classes of Python that a call's arguments lead to."""

import functools
import itertools
from collections.abc import Iterable
from types import FunctionType, MethodType, ModuleType
from typing import Any

from deskcheck.tracer.shown.texts import ATOMS, Code, is_class, is_of_the_library, module_name
from deskcheck.tracer.snapshot import bases_of, fields_of, names_of

_MOST_OBJECTS = 300
"""Looked at in search of code."""
_CONTAINERS = (list, tuple, set, frozenset)


def code_in(values: Iterable[Any]) -> list[Code]:
    """The functions and classes that are reached from some values, in the order in which they are found; the
    classes that objects are of among them. Not those of the standard library."""
    found: dict[int, Code] = {}
    seen: set[int] = set()
    todo = [*values][::-1]
    while todo and len(seen) < _MOST_OBJECTS:
        value = todo.pop()
        kind = type(value)
        if id(value) in seen or kind in ATOMS:
            continue
        seen.add(id(value))
        if kind is FunctionType:
            found[id(value)] = value
        elif is_class(kind):
            if not is_of_the_library(module_name(value)):
                found[id(value)] = value
        elif kind is MethodType:
            todo += [value.__self__, *([] if _is_of_its_class(value) else [value.__func__])]
        elif kind is functools.partial:
            todo += [value.keywords, value.args, value.func]
        elif kind is not ModuleType and kind is not functools._lru_cache_wrapper:
            todo += _inside(value, kind)[::-1]
            if not is_of_the_library(module_name(kind)):
                todo.append(kind)
    return [*found.values()]


def _inside(value: Any, kind: type) -> list[Any]:
    """What a container holds, of whichever class it is, and the attributes of an object."""
    bases = bases_of(kind)
    inside: list[Any] = []
    for base in bases:
        if base in _CONTAINERS:
            inside += itertools.islice(base.__iter__(value), _MOST_OBJECTS)
        elif base is dict:
            pairs = itertools.islice(dict.items(value), _MOST_OBJECTS)
            inside += [part for pair in pairs for part in pair]
    return inside if kind in (*_CONTAINERS, dict) else [*inside, *fields_of(value, bases).values()]


def _is_of_its_class(method: MethodType) -> bool:
    """Whether the class of the object has this function under its name: then its text shows it."""
    owner, function = method.__self__, method.__func__
    if type(function) is not FunctionType:
        return True
    kind = owner if is_class(type(owner)) else type(owner)
    for base in bases_of(kind):
        if function.__name__ in names_of(base):
            held = names_of(base)[function.__name__]
            return held is function or getattr(held, "__func__", None) is function
    return False
