"""Finds the Python functions and classes that a call's arguments lead to, and objects with hidden state.

The text of the arguments does not show these.
"""

import functools
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType
from typing import Any

from deskcheck.tracer.callables.texts import (
    ATOMS,
    Code,
    hides_state,
    is_class,
    is_of_the_library,
)
from deskcheck.tracer.contents.introspection import bases_of, module_of, names_of
from deskcheck.tracer.snapshot import fields_of

_MOST_OBJECTS = 300
"""Limit on the objects that are searched for code."""
_CONTAINERS = (list, tuple, set, frozenset)


@dataclass(frozen=True, slots=True)
class Reached:
    """The functions and classes that some values lead to."""

    code: tuple[Code, ...]
    """Functions and classes in the order of the search, including the classes of objects. Classes of the
    standard library are left out."""
    hides: bool
    """Whether an object has state that is not shown."""


def reached_from(values: Iterable[Any]) -> Reached:
    """The functions and classes that these values lead to."""
    code_by_id: dict[int, Code] = {}
    hides = False
    visited: set[int] = set()
    todo = [*values][::-1]
    while todo and len(visited) < _MOST_OBJECTS:
        value = todo.pop()
        kind = type(value)
        if id(value) in visited or kind in ATOMS:
            continue
        visited.add(id(value))
        if kind is FunctionType:
            code_by_id[id(value)] = value
        elif is_class(kind):
            if not is_of_the_library(module_of(value)):
                code_by_id[id(value)] = value
        elif kind is MethodType:
            todo += [value.__self__, *([] if _is_of_its_class(value) else [value.__func__])]
        elif kind is functools.partial:
            todo += [value.keywords, value.args, value.func]
        elif kind is not ModuleType and kind is not functools._lru_cache_wrapper:
            todo += _inside(value, kind)[::-1]
            if not is_of_the_library(module_of(kind)):
                todo.append(kind)
                hides = hides or hides_state(kind)
    return Reached(tuple(code_by_id.values()), hides)


def _inside(value: Any, kind: type) -> list[Any]:
    """The items of a container (also of a subclass), and the attributes of an object."""
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
    """Whether the object's class has this function under its name, so that the text of the class shows it."""
    owner, function = method.__self__, method.__func__
    if type(function) is not FunctionType:
        return True
    kind = owner if is_class(type(owner)) else type(owner)
    for base in bases_of(kind):
        if function.__name__ in names_of(base):
            member = names_of(base)[function.__name__]
            return member is function or getattr(member, "__func__", None) is function
    return False
