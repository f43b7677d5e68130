"""What objects of library classes hold, as a digest: an estimator's settings and what it has learnt.

The state of a trajectory shows such objects by their type alone. Whether they have changed, and where two
cells are compared that ran in forks of one state, their public attributes decide, as far as these are
data."""

import hashlib
import re
import sys
import types
from _random import Random
from typing import Any

from deskcheck.notebook.state.imports import own_dict
from deskcheck.tracer.contents import arrays as _arrays

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
    """A digest of an object's public attributes, or of where a generator of random numbers stands; None for
    what is no object of a library's class, or has neither."""
    if not _is_librarys(obj) or (_public(obj) is None and _position(obj) is None):
        return None
    return summary(obj)


def summary(obj: Any) -> str:
    """A digest of any value, as far as it is data: the same in every process."""
    found: list[Any] = []
    _add(obj, found, 0, set())
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


def kept_for_all(module: types.ModuleType) -> Any:
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
