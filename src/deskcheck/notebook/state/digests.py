"""Digests of what values hold beyond what the state of a trajectory shows: of objects of library classes, and
of the code that functions and classes lead to.

The state shows such objects by their type alone. Whether they have changed, and where two cells are compared
that ran in forks of one state, their public attributes decide, as far as these are data, and their code."""

import dis
import functools
import hashlib
import re
import sys
import types
from _random import Random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from deskcheck.notebook.state.imports import own_dict
from deskcheck.tracer.contents import arrays as _arrays
from deskcheck.tracer.contents.introspection import declared_module_of

_DEEPEST = 4
_MOST = 2000
"""Values that go into one digest; what is beyond does not."""
_ITEMS = 20_000
"""Of an array."""
_TEXT = 10_000
_ATOMS = (bool, int, float, complex, str, bytes, type(None), type(...), range)
_RANDOM_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""As of displays: drawn anew in every fork."""
_NOT_LIBRARY = ("builtins", "__main__", "types", "functools", "deskcheck.notebook.trial.process")
"""The last is the shell, which holds what every cell was."""


def attributes(obj: Any) -> str | None:
    """A digest of the public attributes of an object of a library's class, or of where a generator of random
    numbers stands, such as the one that a module keeps for all.

    None for others, for what has neither, and where code of the user's might run for it.
    """
    kind = type(obj)
    if kind is types.ModuleType:
        position = _kept_for_all(obj)
        return None if position is None else summary(position)
    if declared_module_of(type(kind)) == "__main__" or declared_module_of(kind) in ("__main__", "builtins"):
        return None
    try:
        has_some = _is_librarys(obj) and (_public(obj) is not None or _position(obj) is not None)
        return summary(obj) if has_some else None
    except (AttributeError, TypeError, ValueError):  # a class that passes for another
        return None


def summary(obj: Any) -> str:
    """A digest of any value, as far as it is data: the same in every process."""
    found: list[Any] = []
    _add(obj, found, 0, set())
    return _digest(found)


def _digest(found: Any) -> str:
    return hashlib.blake2b(repr(found).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _is_librarys(obj: Any) -> bool:
    kind = type(obj)
    if isinstance(obj, type | types.ModuleType | types.FunctionType):
        return False
    bases = type.__dict__["__mro__"].__get__(kind)
    if _arrays.is_array(bases) or _arrays.pandas_name(bases) is not None:
        return False
    return kind.__module__ not in _NOT_LIBRARY


def _public(obj: Any) -> list[tuple[str, Any]] | None:
    found = own_dict(obj)
    if found is None:
        return None
    traits = found.get("_trait_values")  # of traitlets: what a widget shows
    held = {**found, **traits} if type(traits) is dict else found
    return [(name, value) for name, value in held.items() if type(name) is str and name[:1] != "_"]


def _position(obj: Any) -> Any:
    """Where a generator of random numbers stands, of the standard library's or numpy's; None for others."""
    kind = type(obj)
    if kind.__module__ == "random" and kind.__name__ == "Random":
        return Random.getstate(obj)
    if kind.__module__ == "numpy.random.mtrand" and kind.__name__ == "RandomState":
        return obj.get_state(legacy=False)
    if kind.__module__ == "numpy.random._generator" and kind.__name__ == "Generator":
        bits = obj.bit_generator
        return bits.state if type(bits).__module__.startswith("numpy.random.") else None
    return None


def _kept_for_all(module: types.ModuleType) -> Any:
    """Where the generator stands that a module keeps for all: `random`, `numpy` and `numpy.random`. None for
    other modules."""
    found = None
    if module is sys.modules.get("random"):
        found = vars(module).get("_inst")
    elif module is sys.modules.get("numpy") or module is sys.modules.get("numpy.random"):
        mtrand = sys.modules.get("numpy.random.mtrand")
        found = None if mtrand is None else vars(mtrand).get("_rand")
    return None if found is None else _position(found)


def _named(obj: Any) -> tuple[str, ...] | None:
    """What a function or class of a library is called; None for other values, and for the user's, whose
    names may be others."""
    if isinstance(obj, type | types.FunctionType | types.BuiltinFunctionType | types.MethodDescriptorType):
        is_class = isinstance(obj, type)  # whose own `__module__` its class may define otherwise
        where, called = (
            vars(type)[each].__get__(obj) if is_class else getattr(obj, each)
            for each in ("__module__", "__qualname__")
        )
        return None if where == "__main__" else (str(where), called)
    if type(obj).__module__ == "numpy" and type(obj).__name__ == "ufunc":
        return ("numpy", obj.__name__)
    return None


def _add(obj: Any, found: list[Any], depth: int, seen: set[int]) -> None:
    kind = type(obj)
    if len(found) > _MOST:
        return
    found.append(kind.__qualname__)
    if kind in _ATOMS or _arrays.is_scalar(kind):
        text = repr(obj)[:_TEXT]
        found.append("id" if kind is str and _RANDOM_ID.fullmatch(obj) else text)
        return
    if depth > _DEEPEST or id(obj) in seen:
        return
    seen.add(id(obj))
    named = _named(obj)
    if named is not None:
        found += named
        if kind is types.BuiltinMethodType and not isinstance(obj.__self__, types.ModuleType):
            _add(obj.__self__, found, depth + 1, seen)
    elif kind in (list, tuple):
        found.append(len(obj))
        for item in obj[:_MOST]:
            _add(item, found, depth + 1, seen)
    elif kind in (set, frozenset):
        found.append(len(obj))
        if len(obj) <= _MOST:  # of more, which ones were looked at would be chance
            found += sorted(repr(item) if type(item) in _ATOMS else type(item).__qualname__ for item in obj)
    elif kind is dict:
        found.append(len(obj))
        for key, value in [*obj.items()][:_MOST]:
            _add(key, found, depth + 1, seen)
            _add(value, found, depth + 1, seen)
    elif (position := _position(obj)) is not None:
        found.append(summary(position))
    elif _is_librarys(obj):
        for name, value in sorted(_public(obj) or ()):
            found.append(name)
            _add(value, found, depth + 1, seen)
    elif not isinstance(obj, type | types.ModuleType | types.FunctionType):
        for array in _arrays.memory(obj):
            try:
                found.append(_arrays.sample(array, _ITEMS)[0])
            except ValueError:  # of objects
                found.append(len(array))


# -- code ---------------------------------------------------------------------------------------------

_DEEPEST_CODE = 6
_MOST_CODES = 200
"""Functions and classes that one value leads to."""


def codes(obj: Any, names: Mapping[str, Any]) -> str | None:
    """A digest of all code of the user's that a value leads to: a function, a class with its methods, what a
    function closes over or wraps, items of containers. None where there is none.

    names: the user's namespace: functions of it are the user's. Names of local variables, docstrings,
    comments, annotations and the place in the source do not matter; names of parameters do, as callers use
    them.
    """
    found = [*_of(obj, names, 0, set())][:_MOST_CODES]
    return _digest(found) if found else None


def _of(obj: Any, names: Mapping[str, Any], depth: int, seen: set[int]) -> Iterator[Any]:
    if depth > _DEEPEST_CODE or id(obj) in seen or len(seen) > 10 * _MOST_CODES:
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
        inside = [*obj.values()][:_MOST_CODES]
    elif kind in (list, tuple):
        seen.add(id(obj))
        inside = obj[:_MOST_CODES]
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
        return [_atom(item) for item in value[:_MOST_CODES]]
    return type(value).__name__, repr(value) if type(value) in _ATOMS else None


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
