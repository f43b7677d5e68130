"""Digests of content that the state of a trajectory does not show: objects of library classes, and the code
of functions and classes.

The digests decide whether such objects have changed, and whether two cells that ran in forks of one state
agree. Of an object's public attributes, only those count that are data.
"""

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
"""Maximum number of values in one digest."""
_ITEMS = 20_000
"""Maximum number of items of an array in a digest."""
_TEXT = 10_000
_ATOMS = (bool, int, float, complex, str, bytes, type(None), type(...), range)
_RANDOM_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Random ids, such as those of displays, which differ between forks."""
_NOT_LIBRARY = ("builtins", "__main__", "types", "functools", "deskcheck.notebook.trial.process")
"""Modules that are not libraries. The last contains the shell, which has the sources of all cells."""


def attributes(obj: Any) -> str | None:
    """A digest of the public attributes of an object of a library's class, or of the state of a random
    generator, also a module's. None for others, and if code of the user might run."""
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
    """A digest of the data in any value: the same in every process."""
    parts: list[Any] = []
    _add(obj, parts, 0, set())
    return _digest(parts)


def _digest(value: Any) -> str:
    return hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _is_librarys(obj: Any) -> bool:
    kind = type(obj)
    if isinstance(obj, type | types.ModuleType | types.FunctionType):
        return False
    bases = type.__dict__["__mro__"].__get__(kind)
    if _arrays.is_array(bases) or _arrays.pandas_name(bases) is not None:
        return False
    return kind.__module__ not in _NOT_LIBRARY


def _public(obj: Any) -> list[tuple[str, Any]] | None:
    attributes_here = own_dict(obj)
    if attributes_here is None:
        return None
    traits = attributes_here.get("_trait_values")  # of traitlets: what a widget shows
    public_values = {**attributes_here, **traits} if type(traits) is dict else attributes_here
    return [(name, value) for name, value in public_values.items() if type(name) is str and name[:1] != "_"]


def _position(obj: Any) -> Any:
    """The state of a random generator of the standard library or numpy; None for others."""
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
    """The state of a module's global generator: `random`, `numpy` and `numpy.random`. None for other
    modules."""
    generator = None
    if module is sys.modules.get("random"):
        generator = vars(module).get("_inst")
    elif module is sys.modules.get("numpy") or module is sys.modules.get("numpy.random"):
        mtrand = sys.modules.get("numpy.random.mtrand")
        generator = None if mtrand is None else vars(mtrand).get("_rand")
    return None if generator is None else _position(generator)


def _named(obj: Any) -> tuple[str, ...] | None:
    """The name of a function or class of a library; None for other values and the user's."""
    if isinstance(obj, type | types.FunctionType | types.BuiltinFunctionType | types.MethodDescriptorType):
        is_class = isinstance(obj, type)  # whose own `__module__` its class may define otherwise
        where, called = (
            vars(type)[attribute].__get__(obj) if is_class else getattr(obj, attribute)
            for attribute in ("__module__", "__qualname__")
        )
        return None if where == "__main__" else (str(where), called)
    if type(obj).__module__ == "numpy" and type(obj).__name__ == "ufunc":
        return ("numpy", obj.__name__)
    return None


def _add(obj: Any, parts: list[Any], depth: int, visited: set[int]) -> None:
    kind = type(obj)
    if len(parts) > _MOST:
        return
    parts.append(kind.__qualname__)
    if kind in _ATOMS or _arrays.is_scalar(kind):
        text = repr(obj)[:_TEXT]
        parts.append("id" if kind is str and _RANDOM_ID.fullmatch(obj) else text)
        return
    if depth > _DEEPEST or id(obj) in visited:
        return
    visited.add(id(obj))
    named = _named(obj)
    if named is not None:
        parts += named
        if kind is types.BuiltinMethodType and not isinstance(obj.__self__, types.ModuleType):
            _add(obj.__self__, parts, depth + 1, visited)
    elif kind in (list, tuple):
        parts.append(len(obj))
        for item in obj[:_MOST]:
            _add(item, parts, depth + 1, visited)
    elif kind in (set, frozenset):
        parts.append(len(obj))
        if len(obj) <= _MOST:  # of more, which ones were looked at would be chance
            parts += sorted(repr(item) if type(item) in _ATOMS else type(item).__qualname__ for item in obj)
    elif kind is dict:
        parts.append(len(obj))
        for key, value in [*obj.items()][:_MOST]:
            _add(key, parts, depth + 1, visited)
            _add(value, parts, depth + 1, visited)
    elif (position := _position(obj)) is not None:
        parts.append(summary(position))
    elif _is_librarys(obj):
        for name, value in sorted(_public(obj) or ()):
            parts.append(name)
            _add(value, parts, depth + 1, visited)
    elif not isinstance(obj, type | types.ModuleType | types.FunctionType):
        for array in _arrays.memory(obj):
            try:
                parts.append(_arrays.sample(array, _ITEMS)[0])
            except ValueError:  # of objects
                parts.append(len(array))


# -- code ---------------------------------------------------------------------------------------------

_DEEPEST_CODE = 6
_MOST_CODES = 200
"""Functions and classes of one value."""
_WRAPPERS: dict[type, tuple[str, ...]] = {
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    types.MethodType: ("__func__",),
    property: ("fget", "fset", "fdel"),
    functools.partial: ("func",),
    functools._lru_cache_wrapper: ("__wrapped__",),
}
"""Types whose objects wrap functions, under these attributes."""


def codes(obj: Any, names: Mapping[str, Any]) -> str | None:
    """A digest of the user's code in a value: functions, classes with their methods, what functions close
    over or wrap, items of containers. None without such code.

    names: the user's namespace, by which the user's functions are recognised. Names of parameters count;
    names of locals, docstrings, comments, annotations and line numbers do not.
    """
    digested = [*_of(obj, names, 0, set())][:_MOST_CODES]
    return _digest(digested) if digested else None


def _of(obj: Any, names: Mapping[str, Any], depth: int, visited: set[int]) -> Iterator[Any]:
    if depth > _DEEPEST_CODE or id(obj) in visited or len(visited) > 10 * _MOST_CODES:
        return
    kind = type(obj)
    inside: Any = ()
    if kind is types.FunctionType:
        if obj.__globals__ is not names:
            return
        visited.add(id(obj))
        free: dict[str, int] = {}
        body = _body(obj.__code__, lambda name: free.setdefault(name, len(free)))
        cells = dict(zip(obj.__code__.co_freevars, obj.__closure__ or (), strict=True))
        inside = [_cell(cells[name]) for name in free]
        values = (*(obj.__defaults__ or ()), *inside, *(obj.__kwdefaults__ or {}).items())
        yield body, [_atom(value) for value in values]
        inside += [*values, obj.__dict__.get("__wrapped__")]
    elif kind in _WRAPPERS:
        inside = [getattr(obj, name, None) for name in _WRAPPERS[kind]]
    elif issubclass(kind, type):
        if type.__getattribute__(obj, "__module__") != names.get("__name__"):
            return
        visited.add(id(obj))
        yield "class", obj.__name__, tuple(base.__qualname__ for base in obj.__bases__)
        for name, value in [*type.__dict__["__dict__"].__get__(obj).items()]:
            for part in _of(value, names, depth + 1, visited):
                yield name, part
        return
    elif kind is dict:
        visited.add(id(obj))
        inside = [*obj.values()][:_MOST_CODES]
    elif kind in (list, tuple):
        visited.add(id(obj))
        inside = obj[:_MOST_CODES]
    for part in inside:
        yield from _of(part, names, depth + 1, visited)


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return None


def _atom(value: Any) -> Any:
    """A default or closed-over value, if it is immutable. The state contains other values."""
    if type(value) is tuple:
        return [_atom(item) for item in value[:_MOST_CODES]]
    return type(value).__name__, repr(value) if type(value) in _ATOMS else None


def _body(code: types.CodeType, outer: Callable[[str], Any]) -> tuple[Any, ...]:
    """The instructions of a code object, with locals numbered by their first use. outer: number of a variable
    of the surrounding function."""
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
            is_cell = step.opname == "LOAD_CLOSURE" or step.opname.startswith("LOAD_FAST")
            argument = tuple(None if is_cell and name in cells else place(name) for name in joined)
        elif step.opcode in dis.hasconst:
            argument = _constant(argument, place)
        elif step.opcode not in dis.hasname and step.opcode not in dis.hasjrel:
            argument = step.argrepr or step.arg
        steps.append((step.opname, argument))
    return (parameters, code.co_argcount, code.co_posonlyargcount, code.co_flags & 0xFF, steps)


_CELLS = ("MAKE_CELL", "COPY_FREE_VARS")
"""Preparations, in the order of the names."""


def _constant(value: Any, slot_of: Callable[[str], Any]) -> Any:
    if isinstance(value, types.CodeType):
        return _body(value, slot_of)
    if isinstance(value, frozenset):
        return "frozenset", sorted(map(repr, value))
    return type(value).__name__, repr(value)
