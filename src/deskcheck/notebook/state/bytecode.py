"""What functions and classes do, as a digest of their bytecode: for values whose content is code."""

import dis
import functools
import hashlib
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_DEEPEST = 6
_MOST = 200
"""Functions and classes that one value leads to."""


def codes(obj: Any, names: Mapping[str, Any]) -> str | None:
    """A digest of all code of the user's that a value leads to: a function, a class with its methods, what a
    function closes over or wraps, items of containers. None where there is none.

    names: the user's namespace: functions of it are the user's. Names of local variables, docstrings,
    comments, annotations and the place in the source do not matter; names of parameters do, as callers use
    them.
    """
    found = [*_of(obj, names, 0, set())][:_MOST]
    if not found:
        return None
    return hashlib.blake2b(repr(found).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _of(obj: Any, names: Mapping[str, Any], depth: int, seen: set[int]) -> Iterator[Any]:
    if depth > _DEEPEST or id(obj) in seen or len(seen) > 10 * _MOST:
        return
    kind = type(obj)
    inside: Any = ()
    if kind is types.FunctionType:
        if obj.__globals__ is not names:
            return
        seen.add(id(obj))
        free: dict[str, int] = {}
        body = _body(obj.__code__, lambda name: free.setdefault(name, len(free)))
        cells = dict(zip(obj.__code__.co_freevars, obj.__closure__ or (), strict=True))
        inside = [_cell(cells[name]) for name in free]
        held = (*(obj.__defaults__ or ()), *inside, *(obj.__kwdefaults__ or {}).items())
        yield body, [_atom(value) for value in held]
        inside += [*held, obj.__dict__.get("__wrapped__")]
    elif kind in (staticmethod, classmethod, types.MethodType):
        inside = [obj.__func__]
    elif kind is property:
        inside = [obj.fget, obj.fset, obj.fdel]
    elif kind is functools.partial:
        inside = [obj.func]
    elif kind is functools._lru_cache_wrapper:
        inside = [obj.__dict__.get("__wrapped__")]
    elif issubclass(kind, type):
        if type.__getattribute__(obj, "__module__") != names.get("__name__"):
            return
        seen.add(id(obj))
        yield "class", obj.__name__, tuple(base.__qualname__ for base in obj.__bases__)
        for name, value in [*type.__dict__["__dict__"].__get__(obj).items()]:
            for each in _of(value, names, depth + 1, seen):
                yield name, each
        return
    elif kind is dict:
        seen.add(id(obj))
        inside = [*obj.values()][:_MOST]
    elif kind in (list, tuple):
        seen.add(id(obj))
        inside = obj[:_MOST]
    for each in inside:
        yield from _of(each, names, depth + 1, seen)


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return None


def _atom(value: Any) -> Any:
    """What a function has by default or closes over, as far as it is immutable: the rest is the state's."""
    if type(value) is tuple:
        return [_atom(item) for item in value[:_MOST]]
    return type(value).__name__, repr(value) if type(value) in _ATOMS else None


_ATOMS = (int, float, complex, str, bytes, bool, type(None), type(...))


def _body(code: types.CodeType, outer: Callable[[str], Any]) -> tuple[Any, ...]:
    """What a code object does. Slots of locals by their first use, whatever their names. outer: place of a
    variable of the function around it."""
    parameters = code.co_varnames[
        : code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    ]
    slots: dict[str, int] = {name: n for n, name in enumerate(parameters)}
    cells = {*code.co_cellvars, *code.co_freevars}

    def place(name: str) -> Any:
        return ("outer", outer(name)) if name in code.co_freevars else slots.setdefault(name, len(slots))

    steps: list[Any] = []
    for step in dis.get_instructions(code):
        argument = step.argval
        if step.opname in _CELLS:
            continue
        if step.opcode in dis.haslocal or step.opcode in dis.hasfree:
            joined = argument if isinstance(argument, tuple) else (argument,)
            # Cells are given to an inner function in the order of their names; its body says which is which.
            given = step.opname == "LOAD_CLOSURE" or step.opname.startswith("LOAD_FAST")
            argument = tuple(None if given and name in cells else place(name) for name in joined)
        elif step.opcode in dis.hasconst:
            argument = _constant(argument, place)
        elif step.opcode not in dis.hasname and step.opcode not in dis.hasjrel:
            argument = step.argrepr or step.arg
        steps.append((step.opname, argument))
    return (parameters, code.co_argcount, code.co_posonlyargcount, code.co_flags & 0xFF, steps)


_CELLS = ("MAKE_CELL", "COPY_FREE_VARS")
"""Preparations, in the order of the names."""


def _constant(value: Any, place: Callable[[str], Any]) -> Any:
    if isinstance(value, types.CodeType):
        return _body(value, place)
    if isinstance(value, frozenset):
        return "frozenset", sorted(map(repr, value))
    return type(value).__name__, repr(value)
