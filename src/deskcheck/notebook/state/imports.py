"""Recognises imports among variables: modules, functions and classes of libraries under their names there,
and everything that `from module import *` brought.

No code of the user runs. A library is in the interpreter's own folders; other modules are the user's, and
their content is described like that of cells.
"""

import site
import sys
import sysconfig
import types
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from deskcheck.tracer.contents.introspection import bases_of, module_of
from deskcheck.tracer.snapshot import qualified_name

_MANY = 12
"""Maximum number of names of one module that are listed. For more, their number is given."""
_OF_PATHS = ("posixpath", "genericpath")
"""Modules behind `os.path`."""
_qualname = type.__dict__["__qualname__"].__get__
_module_dict = vars(types.ModuleType)["__dict__"].__get__


@dataclass(frozen=True, slots=True)
class Import:
    """An imported variable. attribute: its name in the module. None: the variable is the module."""

    name: str
    module: str
    attribute: str | None = None


def imports_of(variables: Mapping[str, Any], namespace: Mapping[str, Any] | None = None) -> list[Import]:
    """The imports among these variables, in order. namespace: all variables, if these are not all."""
    imports = {name: imported(name, obj) for name, obj in variables.items()}
    sources = {entry.module for entry in imports.values() if entry is not None}
    brought = {
        module: _all_brought(module, variables if namespace is None else namespace) for module in sources
    }
    # The smaller first, so that the package overrides its modules.
    for module, names_there in sorted(brought.items(), key=lambda entry: len(entry[1])):
        for name, obj in variables.items():
            if name in names_there and names_there[name] is obj:
                imports[name] = Import(name, module, name)
    return [entry for entry in imports.values() if entry is not None]


def _all_brought(module: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The names of `from module import *`, if all seem to be present. A cell may have rebound some."""
    loaded = _module(module)
    if loaded is None:
        return {}
    names_there = _module_dict(loaded)
    listed = names_there.get("__all__")
    names = listed if type(listed) in (list, tuple) else [name for name in names_there if name[:1] != "_"]
    return (
        {n: names_there[n] for n in names if n in names_there}
        if all(name in namespace for name in names)
        else {}
    )


def imported(name: str, obj: Any) -> Import | None:
    """How a variable may have been imported. None for a variable that the user made."""
    if type(obj) is types.ModuleType:
        return Import(name, _text(_module_dict(obj).get("__name__")) or "?")
    if module_of(type(obj)) == "__future__":
        return Import(name, "__future__", name)
    module, attribute = home_of(obj)
    if module is None or attribute is None or not is_library(module):
        return None
    return Import(name, module, attribute)


def home_of(obj: Any) -> tuple[str | None, str | None]:
    """The outermost package or module that has an object under its own name, and that name."""
    module, called = _called(obj)
    if module is None or called is None or not _has(module, called, obj):
        return None, None
    parts = module.split(".")
    around = [".".join(parts[:count]) for count in range(1, len(parts))]
    # The module without its underscore: `operator` for `_operator`.
    around += ["os.path"] if module in _OF_PATHS else [module.lstrip("_")]
    return next((outer for outer in around if _has(outer, called, obj)), module), called


def public_name(cls: type) -> str:
    """A class's name with the module that users import it from; without `builtins` and the notebook's own."""
    module, called = home_of(cls)
    if module is None or called is None:
        module, called = module_of(cls), qualified_name(_qualname(cls))
    return called if module in (None, "builtins", "__main__") else f"{module}.{called}"


def _called(obj: Any) -> tuple[str | None, str | None]:
    kind = type(obj)
    if any(base is type for base in bases_of(kind)):
        return module_of(obj), _text(type.__dict__["__name__"].__get__(obj))
    if module_of(kind) == "typing":
        return "typing", _text(_of_typing(obj))
    of_numpy = _qualname(kind) if module_of(kind) == "numpy" else None
    if of_numpy == "ufunc":
        return "numpy", _text(obj.__name__)
    if kind is types.MethodType and type(obj.__func__) is types.FunctionType:
        obj = obj.__func__
    elif kind is types.BuiltinFunctionType:
        if obj.__self__ is not None and type(obj.__self__) is not types.ModuleType:
            return None, None
    elif kind is not types.FunctionType and of_numpy != "_ArrayFunctionDispatcher":
        return None, None
    return _text(obj.__module__), _text(obj.__name__)


def _of_typing(obj: Any) -> Any:
    for name in ("_name", "__name__"):  # of some in a slot
        try:
            return object.__getattribute__(obj, name)
        except AttributeError:
            continue
    return None


def own_dict(obj: Any) -> dict[str, Any] | None:
    """The attributes of an object itself, without running code of its class."""
    try:
        attributes = object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return None
    return attributes if type(attributes) is dict else None


def _has(module: str, name: str, obj: Any) -> bool:
    loaded = _module(module)
    value = None if loaded is None else _module_dict(loaded).get(name)
    if value is None:
        return False
    if type(value) is types.MethodType and type(obj) is types.MethodType:  # made anew at each look
        return value.__func__ is obj.__func__ and value.__self__ is obj.__self__
    return value is obj


def _module(name: str) -> types.ModuleType | None:
    """A loaded module. None if another object has its place."""
    loaded = sys.modules.get(name)
    return loaded if any(base is types.ModuleType for base in bases_of(type(loaded))) else None


def _text(value: Any) -> str | None:
    return value if type(value) is str else None


def is_library(module: str) -> bool:
    """Whether a module is the interpreter's, or installed."""
    if module in ("__main__", "__mp_main__"):
        return False
    loaded = _module(module)
    if loaded is None:
        return False
    path = _text(_module_dict(loaded).get("__file__"))
    return path is None or path.startswith(_folders()) or module.partition(".")[0] == "deskcheck"


@cache
def _folders() -> tuple[str, ...]:
    named = sysconfig.get_paths()
    folders = {named[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages()}
    # An interpreter in a virtual environment has its packages where it was told to look for them.
    folders |= {path for path in sys.path if path.endswith(("site-packages", "dist-packages"))}
    return tuple(f"{path}/" for path in folders if path)


def listed(imports: list[Import]) -> list[str]:
    """Imports as short texts: ``np = numpy``, ``math``, ``itertools: chain, product``. Omits deskcheck."""
    texts: list[str] = []
    of_module: dict[str, list[str]] = {}
    for entry in imports:
        if entry.module.partition(".")[0] == "deskcheck":
            continue
        if entry.module == "builtins":  # another name for what needs no import
            texts.append(f"{entry.name} = {entry.attribute}")
        elif entry.attribute is None:
            texts.append(entry.name if entry.name == entry.module else f"{entry.name} = {entry.module}")
        else:
            text = entry.name if entry.name == entry.attribute else f"{entry.name} = {entry.attribute}"
            of_module.setdefault(entry.module, []).append(text)
    for module, names in of_module.items():
        many = len(names) > _MANY
        texts.append(f"{len(names)} names of {module}" if many else f"{module}: {', '.join(names)}")
    return texts
