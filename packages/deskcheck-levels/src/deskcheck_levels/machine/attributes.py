"""What `owner.name` is: a method, or one of the few attributes that memory holds; all else is outside."""

from types import BuiltinMethodType, FunctionType, GeneratorType
from typing import Any

from deskcheck_levels.machine.frames import (
    Bound,
    Builtin,
    BuiltinType,
    Function,
    OutsideLanguage,
    ProgramRaised,
)
from deskcheck_levels.machine.iterators import Counting, Enumerated, Filtered, Generator, Mapped

_KINDS: dict[type, type] = {
    Function: FunctionType,
    Generator: GeneratorType,
    Counting: type(iter(range(0))),
    Enumerated: enumerate,
    Mapped: map,
    Filtered: filter,
    Bound: BuiltinMethodType,
    Builtin: BuiltinMethodType,
}
_KEPT: dict[type, tuple[str, ...]] = {
    range: ("start", "stop", "step"),
    BaseException: ("args",),
    StopIteration: ("args", "value"),
}
"""Type -> attributes that are not methods."""


def kind_of(value: Any) -> type:
    """The type that Python's own value has, for which one of the machine's stands."""
    return _KINDS.get(type(value), type(value))


def attribute(owner: Any, name: str) -> Any:
    """owner.name; not of what has `__class__` or is a type of the builtins, which the caller knows.

    Raises:
        ProgramRaised: an AttributeError: Python has no such attribute.
        OutsideLanguage: it has one that is no method and that memory does not hold.
    """
    if name == "__name__" and isinstance(owner, (Function, type)):
        return owner.code.co_name if isinstance(owner, Function) else owner.__name__
    if isinstance(owner, type):  # of an exception
        if not hasattr(owner, name):
            raise ProgramRaised(AttributeError(f"type object {owner.__name__!r} has no attribute {name!r}"))
        raise OutsideLanguage(f"the attribute {owner.__name__}.{name}")
    kind = kind_of(owner)
    if not hasattr(kind, name):
        raise ProgramRaised(AttributeError(f"{kind.__name__!r} object has no attribute {name!r}"))
    if any(isinstance(owner, type_) and name in names for type_, names in _KEPT.items()):
        return getattr(owner, name)
    if name.startswith("__") or not callable(getattr(kind, name)):
        raise OutsideLanguage(f"the attribute {kind.__name__}.{name}")
    return Bound(owner, name)


def attribute_of_type(owner: BuiltinType, kind: type | None, name: str) -> Any:
    """owner.name of a builtin type. kind: which it is, None where the machine has not got it."""
    if name == "__name__":
        return owner.name
    if kind is None or name.startswith("__"):
        raise OutsideLanguage(f"the attribute {owner.name}.{name}")
    if not hasattr(kind, name):
        raise ProgramRaised(AttributeError(f"type object {owner.name!r} has no attribute {name!r}"))
    if not callable(getattr(kind, name)):
        raise OutsideLanguage(f"the attribute {owner.name}.{name}")
    return Bound(owner, name)
