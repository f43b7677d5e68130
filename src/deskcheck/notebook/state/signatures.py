"""Facts that are needed to call the user's functions and classes: parameters, summaries of docstrings, public
methods.

Read from code objects and namespaces of classes: no code of the user runs, unlike with `inspect.signature`.
"""

import functools
import inspect
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

from deskcheck.notebook.state.imports import own_dict, public_name
from deskcheck.notebook.state.truncate import short_text, with_rest
from deskcheck.tracer.contents.introspection import bases_of, module_of, names_of

Show = Callable[[str, Any], str]
"""The text of a named value."""

_DOC_CHARS = 100
_METHODS = 20
_WRAPPED = 10
"""Maximum number of levels of wrapped functions."""
_DEEPEST = 4
"""Maximum depth of annotations."""
_CACHED = type(functools.lru_cache(lambda: None))
_annotations = vars(types.FunctionType)["__annotations__"].__get__
_type_dict = type.__dict__


def called(obj: Any, show: Show) -> dict[str, Any] | None:
    """Facts about a function or class: ``type``, ``call`` (parameters), ``doc``, and of a class ``bases``,
    ``methods``, ``members`` (of an enumeration). None for other objects."""
    inner = _inner(obj)
    if is_class(inner):
        return _class(inner, show)
    if type(inner) is not types.FunctionType:
        return None
    function = inner
    is_async = function.__code__.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
    facts = {"type": "async function" if is_async else "function", "call": parameters(function, show)}
    doc = summary_of(function.__doc__)
    return facts if not doc else facts | {"doc": doc}


def is_class(obj: Any) -> bool:
    """Whether an object is a class, without `isinstance`, which would call code of the object."""
    return any(base is type for base in bases_of(type(obj)))


def _inner(obj: Any) -> Any:
    """The function or class behind `functools.wraps` and `functools.cache`. Other objects are returned."""
    for _ in range(_WRAPPED):
        if type(obj) is not types.FunctionType and type(obj) is not _CACHED:
            return obj
        inner = dict.get(obj.__dict__, "__wrapped__")
        if type(inner) not in (types.FunctionType, _CACHED) and not (
            type(obj) is _CACHED and is_class(inner)
        ):
            return obj
        obj = inner
    return None


def summary_of(doc: Any) -> str | None:
    """The first sentence of a docstring."""
    if type(doc) is not str:
        return None
    paragraph = re.split(r"\n\s*\n", doc.strip(), maxsplit=1)[0]
    text = re.split(r"(?<=[.?!])\s", " ".join(paragraph.split()), maxsplit=1)[0]
    return text if len(text) <= _DOC_CHARS or not text else f"{short_text(text, _DOC_CHARS)} ..."


def parameters(function: types.FunctionType, show: Show, *, skip: int = 0) -> str:
    """As in a definition: ``(a, b=2, *rest, key: int = 3) -> str``. skip: number of first parameters that a
    caller does not pass, such as `self`."""
    code = function.__code__
    names = code.co_varnames
    notes = _annotations(function)
    notes = notes if type(notes) is dict else {}
    by_place = names[: code.co_argcount]
    defaults = defaults_of(function)

    def one(name: str, stars: str = "") -> str:
        note = annotation(notes[name]) if name in notes else None
        text = f"{stars}{name}" + (f": {note}" if note is not None else "")
        if name in defaults:
            text += f"{' = ' if note is not None else '='}{show(name, defaults[name])}"
        return text

    parts = [one(name) for name in by_place]
    if code.co_posonlyargcount:
        parts.insert(code.co_posonlyargcount, "/")
    parts = parts[skip + (skip >= code.co_posonlyargcount > 0) :]
    by_name = names[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    after = code.co_argcount + code.co_kwonlyargcount
    if code.co_flags & inspect.CO_VARARGS:
        parts.append(one(names[after], "*"))
        after += 1
    elif by_name:
        parts.append("*")
    parts += [one(name) for name in by_name]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        parts.append(one(names[after], "**"))
    gives = annotation(notes["return"]) if "return" in notes else None
    return f"({', '.join(parts)})" + (f" -> {gives}" if gives is not None else "")


def defaults_of(function: types.FunctionType) -> dict[str, Any]:
    """Parameter -> its default, for parameters with a default."""
    named, values = function.__kwdefaults__, function.__defaults__ or ()
    by_place = function.__code__.co_varnames[: function.__code__.co_argcount]
    count = min(len(by_place), len(values))
    last = zip(by_place[len(by_place) - count :], values[len(values) - count :], strict=True)
    return dict(last) | (named if type(named) is dict else {})


def annotation(note: Any, depth: int = 0) -> str | None:
    """An annotation as text; None if code of the user would have to run."""
    if note is None or note is type(None):
        return "None"
    if note is ...:
        return "..."
    if type(note) is str:
        return note
    if type(note) in (int, bool, bytes):
        return repr(note)
    kind = type(note)
    if is_class(note) and kind is not types.GenericAlias:
        return public_name(note)
    if depth > _DEEPEST or module_of(kind) not in ("typing", "types", "collections.abc"):
        return None
    attributes = own_dict(note) or {}
    if kind is types.UnionType or attributes.get("_name") in ("Union", "Optional"):
        return _joined(note, " | ", depth)
    if "__args__" not in attributes and kind is not types.GenericAlias:
        named = attributes.get("_name", attributes.get("__name__"))
        return named if type(named) is str else None
    origin = attributes.get("__origin__", getattr(note, "__origin__", None))
    named = attributes.get("_name")
    head = named if type(named) is str else annotation(origin, depth + 1)
    if head == "Literal":
        return f"Literal[{', '.join(map(repr, _args(note)))}]"
    inside = _joined(note, ", ", depth)
    if head == "Callable" and inside is not None and len(_args(note)) > 0:
        *taken, returned = (annotation(argument, depth + 1) for argument in _args(note))
        listed = "..." if taken == ["..."] else f"[{', '.join(map(str, taken))}]"
        inside = f"{listed}, {returned}"
    return None if head is None or inside is None else f"{head}[{inside}]"


def _args(note: Any) -> tuple[Any, ...]:
    arguments = getattr(note, "__args__", ())  # of classes of `typing` and `types` alone
    return arguments if type(arguments) is tuple else ()


def _joined(note: Any, between: str, depth: int) -> str | None:
    parts = [annotation(argument, depth + 1) for argument in _args(note)]
    return between.join(part for part in parts if part is not None) if None not in parts else None


def _class(cls: type, show: Show) -> dict[str, Any]:
    space = names_of(cls)
    facts: dict[str, Any] = {"type": "class"}
    bases = [public_name(base) for base in _type_dict["__bases__"].__get__(cls) if base is not object]
    if bases:
        facts["bases"] = bases
    members = _members(space)
    if members:
        return facts | {"members": members}
    maker = _maker(cls)
    if maker is not None:
        facts["call"] = parameters(maker, show, skip=1).partition(" -> ")[0]
    doc = summary_of(space.get("__doc__"))
    if doc and not doc.startswith(f"{_type_dict['__name__'].__get__(cls)}("):  # a data class's
        facts["doc"] = doc
    methods = [*_methods(space, show)]
    if methods:
        facts["methods"] = with_rest(methods[:_METHODS], len(methods))
    return facts


def _members(space: Any) -> list[str]:
    """Names of an enumeration's members."""
    members = space.get("_member_map_")
    return [name for name in members if type(name) is str][:_METHODS] if type(members) is dict else []


def _maker(cls: type) -> types.FunctionType | None:
    """The function that takes the arguments of a call of the class."""
    for base in bases_of(cls):
        for name in ("__init__", "__new__"):
            function = names_of(base).get(name)
            function = function.__func__ if type(function) is staticmethod else function
            if type(function) is types.FunctionType:
                return function
        if base is object:
            break
    return None


def _methods(space: Any, show: Show) -> Iterator[str]:
    for name, what in list(space.items()):
        if type(name) is not str or (name.startswith("_") and name != "__call__"):
            continue
        if type(what) is property:
            yield name
            continue
        is_method = type(what) is not staticmethod
        function = _inner(what.__func__ if type(what) in (classmethod, staticmethod) else what)
        if type(function) is types.FunctionType:
            yield f"{name}{parameters(function, show, skip=int(is_method))}"
