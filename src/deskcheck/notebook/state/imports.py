"""Which variables are imports, told from the objects: modules, functions and classes of libraries under
names that their module has for them, and all else that came with them by `from module import *`.

Nothing of the user's runs. A library is what lies in the interpreter's own folders of modules; other modules
are the user's, and what they define is told like what a cell defines."""

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
"""Names out of one module that are listed; of more, their number is."""
_OF_PATHS = ("posixpath", "genericpath")
"""Modules behind `os.path`."""
_qualname = type.__dict__["__qualname__"].__get__
_module_dict = vars(types.ModuleType)["__dict__"].__get__


@dataclass(frozen=True, slots=True)
class Import:
    """name: of the variable. module: where it is from. attribute: what it is called there; None: it is that
    module."""

    name: str
    module: str
    attribute: str | None = None


def imports_of(variables: Mapping[str, Any], namespace: Mapping[str, Any] | None = None) -> list[Import]:
    """Those among these variables, in their order. namespace: all that there are, if these are not all."""
    found = {name: imported(name, obj) for name, obj in variables.items()}
    sources = {each.module for each in found.values() if each is not None}
    brought = {
        module: _all_brought(module, variables if namespace is None else namespace) for module in sources
    }
    # The smaller first, so that the package overrides its modules.
    for module, held in sorted(brought.items(), key=lambda each: len(each[1])):
        for name, obj in variables.items():
            if name in held and held[name] is obj:
                found[name] = Import(name, module, name)
    return [each for each in found.values() if each is not None]


def _all_brought(module: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """What `from module import *` brings, if it all seems to be there: constants and objects, too. A cell may
    have given some of the names to something else."""
    found = _module(module)
    if found is None:
        return {}
    held = _module_dict(found)
    listed = held.get("__all__")
    names = listed if type(listed) in (list, tuple) else [name for name in held if name[:1] != "_"]
    return {n: held[n] for n in names if n in held} if all(name in namespace for name in names) else {}


def imported(name: str, obj: Any) -> Import | None:
    """How a variable could have been imported; None for what a cell made, and for the user's own functions
    and classes, wherever they are from."""
    if type(obj) is types.ModuleType:
        return Import(name, _text(_module_dict(obj).get("__name__")) or "?")
    if module_of(type(obj)) == "__future__":
        return Import(name, "__future__", name)
    module, attribute = home_of(obj)
    if module is None or attribute is None or not is_library(module):
        return None
    return Import(name, module, attribute)


def home_of(obj: Any) -> tuple[str | None, str | None]:
    """The module that has a function, class or the like under a name of its own, and that name. Of the
    packages around it the outermost that has it, too: users import it from there."""
    module, called = _called(obj)
    if module is None or called is None or not _has(module, called, obj):
        return None, None
    parts = module.split(".")
    around = [".".join(parts[:count]) for count in range(1, len(parts))]
    # The same without an underscore, as of `_operator` those of `operator`.
    around += ["os.path"] if module in _OF_PATHS else [module.lstrip("_")]
    return next((each for each in around if _has(each, called, obj)), module), called


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
    """The attributes that an object itself holds; without code of its class."""
    try:
        found = object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return None
    return found if type(found) is dict else None


def _has(module: str, name: str, obj: Any) -> bool:
    found = _module(module)
    held = None if found is None else _module_dict(found).get(name)
    if held is None:
        return False
    if type(held) is types.MethodType and type(obj) is types.MethodType:  # made anew at each look
        return held.__func__ is obj.__func__ and held.__self__ is obj.__self__
    return held is obj


def _module(name: str) -> types.ModuleType | None:
    """A module that is loaded; not what else was put in its place."""
    found = sys.modules.get(name)
    return found if any(base is types.ModuleType for base in bases_of(type(found))) else None


def _text(found: Any) -> str | None:
    return found if type(found) is str else None


def is_library(module: str) -> bool:
    """Whether a module is of the interpreter's, or installed; not what a notebook or its folder defines."""
    if module in ("__main__", "__mp_main__"):
        return False
    found = _module(module)
    if found is None:
        return False
    path = _text(_module_dict(found).get("__file__"))
    return path is None or path.startswith(_folders()) or module.partition(".")[0] == "deskcheck"


@cache
def _folders() -> tuple[str, ...]:
    named = sysconfig.get_paths()
    found = {named[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found |= {*site.getsitepackages(), site.getusersitepackages()}
    # An interpreter in a virtual environment has its packages where it was told to look for them.
    found |= {path for path in sys.path if path.endswith(("site-packages", "dist-packages"))}
    return tuple(f"{path}/" for path in found if path)


def listed(found: list[Import]) -> list[str]:
    """Imports as short texts: ``np = numpy``, ``math``, ``itertools: chain, product``. Without our own."""
    texts: list[str] = []
    of_module: dict[str, list[str]] = {}
    for each in found:
        if each.module.partition(".")[0] == "deskcheck":
            continue
        if each.module == "builtins":  # another name for what needs no import
            texts.append(f"{each.name} = {each.attribute}")
        elif each.attribute is None:
            texts.append(each.name if each.name == each.module else f"{each.name} = {each.module}")
        else:
            as_ = each.name if each.name == each.attribute else f"{each.name} = {each.attribute}"
            of_module.setdefault(each.module, []).append(as_)
    for module, names in of_module.items():
        many = len(names) > _MANY
        texts.append(f"{len(names)} names of {module}" if many else f"{module}: {', '.join(names)}")
    return texts
