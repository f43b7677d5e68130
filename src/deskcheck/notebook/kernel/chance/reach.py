"""What the use of a value may read: the variables and objects that it leads to.

In the kernel's process. Followed are collections, functions and what they are closed over, the variables
that functions of the notebook name, partial functions, methods, and objects and classes of the notebook.
Nothing is called. Not seen: what objects of libraries hold, and what lies beyond the first items of a large
collection."""

import dis
import functools
import itertools
import sys
from collections.abc import Collection, Iterator, Mapping
from types import CodeType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

from deskcheck.notebook.kernel.chance.own import is_filled

_ATOMS = (int, float, complex, bool, str, bytes, range, type(None), type(...), ModuleType)
_GENERATORS = frozenset({"Random", "SystemRandom", "Generator", "RandomState"})
_OF_GENERATORS = frozenset({"random", "numpy", "torch", "faker"})
_ITEMS = 200
"""So many items of a collection are looked at."""
_MOST = 2000
"""So many values, for one."""
_READING = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})


def leads_to(value: Any, names: Collection[str], namespace: Mapping[str, Any]) -> str | None:
    """One of some variables that the use of a value may read, or whose object it holds."""
    if not names or type(value) in _ATOMS:
        return None
    objects = {id(namespace[name]): name for name in names if type(namespace.get(name)) not in _ATOMS}
    seen: set[int] = set()
    todo = [value]
    while todo and len(seen) < _MOST:
        each = todo.pop()
        if type(each) in _ATOMS or id(each) in seen or is_generator(each):
            continue
        if id(each) in objects:
            return objects[id(each)]
        seen.add(id(each))
        for code in _codes(each):
            read = _globals(code)
            if not read.isdisjoint(names):
                return min(read.intersection(names))
            todo += [namespace[name] for name in read if name in namespace]
        todo += _held(each)
    return None


def is_generator(value: Any) -> bool:
    """Whether it is a random generator: what it gives depends on its seed, not on what it gave before."""
    package = package_of(type(value))
    return package in _OF_GENERATORS and (type(value).__name__ in _GENERATORS or package == "faker")


def package_of(kind: type) -> str:
    """Of a class, whatever it makes of being asked; empty where it has none."""
    module = type.__getattribute__(kind, "__module__")
    return module.partition(".")[0] if isinstance(module, str) else ""


def same_object(value: Any, other: Any) -> bool:
    """Whether two variables have one object, so that what changes one changes the other."""
    return value is other and type(value) not in _ATOMS


def _codes(value: Any) -> Iterator[CodeType]:
    """The notebook's code that runs when a value is used."""
    if type(value) is FunctionType and value.__module__ == "__main__":
        yield value.__code__
    elif type(value) is GeneratorType and value.gi_frame is not None:
        yield value.gi_code


@functools.lru_cache(maxsize=1024)
def _globals(code: CodeType) -> frozenset[str]:
    """Variables outside of it that code names."""
    found: set[str] = set()
    todo = [code]
    while todo:
        each = todo.pop()
        found |= {step.argval for step in dis.get_instructions(each) if step.opname in _READING}
        todo += [inner for inner in each.co_consts if isinstance(inner, CodeType)]
    return frozenset(found)


def _held(value: Any) -> list[Any]:
    """What a value holds."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return [*itertools.islice(value, _ITEMS)]
    if kind is dict:
        return [*itertools.islice(value.values(), _ITEMS)]
    if kind is FunctionType:
        cells = [each.cell_contents for each in value.__closure__ or () if is_filled(each)]
        named = (value.__kwdefaults__ or {}).values()
        return [*cells, *(value.__defaults__ or ()), *named, *vars(value).values()]
    if kind is GeneratorType:
        return [] if value.gi_frame is None else [*value.gi_frame.f_locals.values()]
    if kind is MethodType:
        return [value.__func__, value.__self__]
    if kind is functools.partial:
        return [value.func, value.args, value.keywords]
    if kind in (staticmethod, classmethod, functools._lru_cache_wrapper):
        return [value.__wrapped__]
    if kind is property:
        return [value.fget, value.fset]
    if issubclass(kind, type):
        own = package_of(value) == "__main__"
        return [*type.__getattribute__(value, "__dict__").values(), *type.mro(value)] if own else []
    if package_of(kind) == "__main__":
        return [kind, *_attributes(value).values()]
    array = getattr(sys.modules.get("numpy"), "ndarray", None)
    return [value.base] if array is not None and kind is array else []


def own_attribute(value: Any, name: str) -> Any:
    """An attribute of an object of the notebook's; None: there is none."""
    return _attributes(value).get(name) if package_of(type(value)) == "__main__" else None


def _attributes(value: Any) -> dict[str, Any]:
    try:
        found: dict[str, Any] = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found
