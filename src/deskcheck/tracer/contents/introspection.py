"""Reads types and modules with C-level descriptors of `type`, without running code of the program."""

import builtins
import sys
import types
from typing import Any

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

bases_of = type.__dict__["__mro__"].__get__
names_of = type.__dict__["__dict__"].__get__
qualname_of = type.__dict__["__qualname__"].__get__
declared_module_of = type.__dict__["__module__"].__get__
flags_of = type.__dict__["__flags__"].__get__
dict_offset_of = type.__dict__["__dictoffset__"].__get__
_module_names = vars(types.ModuleType)["__dict__"].__get__

HEAP = 1 << 9
"""Py_TPFLAGS_HEAPTYPE: a class that was made while the interpreter ran, not a static one."""
IMMUTABLE = 1 << 8
"""Py_TPFLAGS_IMMUTABLETYPE: C code made the class. No class statement sets this flag."""


def made_by_code(kind: type) -> bool:
    """Whether running code made a class. C code that makes types on the heap may lack the immutable flag."""
    return bool(flags_of(kind) & HEAP) and not flags_of(kind) & IMMUTABLE


def inherits(bases: tuple[type, ...], base: type) -> bool:
    """`base in bases` without `==`, which a metaclass may define."""
    return any(ancestor is base for ancestor in bases)


def module_of(kind: type) -> str | None:
    """The module of a class; None if a class statement set `__module__` to another type than `str`."""
    module = names_of(kind).get("__module__")
    if type(module) is str:
        return module
    if not flags_of(kind) & HEAP:  # a static type: its module is part of tp_name
        return declared_module_of(kind)  # type: ignore[no-any-return]
    return None


def module_names(module: Any) -> dict[str, Any]:
    """The namespace of a module, also of one whose class defines `__getattribute__`."""
    names: dict[str, Any] = _module_names(module)
    return names


def names_of_module(name: str) -> dict[str, Any]:
    """The namespace of a module that is imported; empty for any other."""
    module = sys.modules.get(name)
    return module_names(module) if type(module) is types.ModuleType else {}


def ids(*kinds: type) -> frozenset[int]:
    """Types by address: hashing a type runs its metaclass's `__hash__`."""
    return frozenset(id(kind) for kind in kinds)


def by_id(table: dict[type, Any]) -> dict[int, Any]:
    """A table of types by their addresses."""
    return {id(kind): value for kind, value in table.items()}
