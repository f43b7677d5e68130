"""Functions, classes and objects of the notebook, as `harmless` and `orders` compute with them, and the text
of objects that has their address.

In the kernel's process. The source of a function is found by its compiled code, whatever it is called and
wherever it is kept. Nothing is called."""

import ast
import functools
import inspect
import re
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodType,
)
from typing import Any

Definition = ast.FunctionDef | ast.Lambda
_SETS = frozenset({"set", "frozenset"})
_PLAIN = frozenset(
    {"__init__", "__repr__", "__str__", "__call__", "__module__", "__dict__", "__weakref__", "__doc__"}
    | {"__qualname__", "__annotations__", "__firstlineno__", "__static_attributes__", "__annotate__"}
    | {"__annotate_func__", "__annotations_cache__", "__classcell__", "__iter__", "__len__", "__contains__"}
)
"""Names with two underscores of classes with whose objects we compute."""
_OF_DATACLASSES = frozenset(
    {"__dataclass_fields__", "__dataclass_params__", "__eq__", "__hash__", "__match_args__", "__replace__"}
)
_TAKING_PART = ("__len__", "__bool__", "__getattr__", "__iter__", "__contains__", "__getitem__")
_GENERATORS = (GeneratorType, CoroutineType)
_BUILTINS = (list, tuple, set, frozenset, sorted, len, min, max, sum, any, all, next, iter, reversed, str)
"""Those that a variable may have, and that are computed."""
_ADDRESS = re.compile(r"\bat 0x[0-9A-Fa-f]{4,}\b")
"""As the normaliser of addresses has it."""
_DIGITS = 12
_ITEMS = 20
"""So many items of a collection are looked at for objects."""
_MOST = 1000
"""So many objects are looked at for a cell."""


class UnknownValue(Exception):
    """It cannot be computed here."""


class Definitions:
    """The functions and lambdas in the sources of a notebook's cells. sets: some of them have sets, or texts
    of objects."""

    def __init__(self) -> None:
        self._found: dict[tuple[Any, ...], Definition] = {}
        self.sets = False

    def add(self, tree: ast.Module) -> None:
        """Those of the next cell."""
        nodes: dict[tuple[str, int], list[Definition]] = {}
        for name, node in _definitions(tree, ""):
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            nodes.setdefault((name, first), []).append(node)
        if not nodes:
            return
        for code in _compiled(tree):
            there = nodes.get((code.co_qualname, code.co_firstlineno), ())
            if len(there) == 1:
                self._found[_key(code)] = there[0]
                self.sets = self.sets or any(map(_may_order, ast.walk(there[0])))

    def of(self, function: FunctionType) -> Definition | None:
        """The source of a function, if the notebook has it."""
        return self._found.get(_key(function.__code__))


class OwnFunction:
    """A function of the notebook. outside: what it is closed over. defaults: of its last parameters. named:
    of those that must be named. first: what it is a method of. text: its own, where that is known."""

    def __init__(
        self,
        definition: Definition,
        outside: Mapping[str, Any],
        defaults: tuple[Any, ...] = (),
        named: Mapping[str, Any] | None = None,
        first: tuple[Any, ...] = (),
        text: str | None = None,
    ) -> None:
        self.definition = definition
        self.outside = dict(outside)
        self.defaults = defaults
        self.named = dict(named or {})
        self.first = first
        self.text = text
        self.generates = isinstance(definition, ast.FunctionDef) and generates(definition)

    def of(self, holder: object) -> "OwnFunction":
        """The same as a method of an object."""
        text = None
        if self.text is not None and isinstance(holder, OwnObject) and not holder.has_own_text():
            text = f"<bound method {self.text.split()[1]} of {holder!r}>"
        return OwnFunction(self.definition, self.outside, self.defaults, self.named, (holder,), text)

    def bound(self, given: list[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Its parameters when it is called; raises `TypeError`."""
        arguments = self.definition.args
        given = [*self.first, *given]
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        keywords = {each.arg for each in arguments.kwonlyargs}
        defaults = names[len(names) - len(self.defaults) :] if self.defaults else []
        found = dict(zip(defaults, self.defaults, strict=True)) | self.named
        found |= dict(zip(names, given, strict=False))
        more = {name: value for name, value in named.items() if name not in names and name not in keywords}
        found |= {name: value for name, value in named.items() if name not in more}
        if (len(given) > len(names) and arguments.vararg is None) or (more and arguments.kwarg is None):
            raise TypeError("too many arguments")
        if not {*names, *keywords} <= {*found}:
            raise TypeError("too few arguments")
        if arguments.vararg is not None:
            found[arguments.vararg.arg] = tuple(given[len(names) :])
        if arguments.kwarg is not None:
            found[arguments.kwarg.arg] = more
        return found

    def locals(self) -> set[str]:
        """The names that are not those of its module."""
        arguments = self.definition.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        found = {each.arg for each in (*every, arguments.vararg, arguments.kwarg) if each is not None}
        outside: set[str] = set()
        for node in ast.walk(self.definition):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.FunctionDef) and node is not self.definition:
                found.add(node.name)
            elif isinstance(node, ast.Global | ast.Nonlocal):
                outside |= {*node.names}
        return (found | {*self.outside}) - outside


class OwnClass:
    """A class of the notebook."""

    def __init__(self, kind: type) -> None:
        self.kind = kind


class OwnObject:
    """An object whose text has its address. attributes: None where they are not known. address: as its text
    has it. name: of a generator."""

    def __init__(
        self, kind: Any, attributes: dict[str, Any] | None, address: str, name: str | None = None
    ) -> None:
        self.kind = kind
        self.name = name
        self.attributes = attributes
        self.address = address

    def __repr__(self) -> str:
        if self.name is not None:
            return f"<{self.kind.__name__} object {self.name} at 0x{self.address}>"
        if self.has_own_text():
            raise ValueError("a text of the notebook's own")
        name = self.kind.__qualname__
        module = "" if self.kind.__module__ == "builtins" else f"{self.kind.__module__}."
        return f"<{module}{name} object at 0x{self.address}>"

    def __eq__(self, other: object) -> bool:
        if self.kind.__eq__ is not object.__eq__ and self is not other:
            raise TypeError("compared by the notebook's own method")
        return self is other

    def __bool__(self) -> bool:
        if any(hasattr(self.kind, name) for name in _TAKING_PART):
            raise TypeError("tested by the notebook's own method")
        return True

    def __hash__(self) -> int:
        if self.kind.__hash__ is not object.__hash__:
            raise TypeError("hashed by the notebook's own method")
        return id(self)

    def has_own_text(self) -> bool:
        """Whether the notebook decides what its text is."""
        if self.name is not None:
            return False
        return self.kind.__repr__ is not object.__repr__ or self.kind.__str__ is not object.__str__


class OwnNames:
    """What the user's values are here, each the same whenever it is asked for. order: as of `Evaluator`."""

    def __init__(self, order: int, definitions: Definitions) -> None:
        self.order = order
        self.definitions = definitions
        self._made: dict[int, tuple[object, Any]] = {}
        """By `id`: the user's value, which so lives as long, and ours."""
        self._new = 0

    def of(self, value: Any, copied: Callable[[Any], Any]) -> Any:
        """What stands for it; None: nothing does. copied: gives a copy of what it holds."""
        there = self._made.get(id(value))
        if there is not None:
            return there[1]
        if len(self._made) > _MOST:
            return None
        found: OwnFunction | OwnClass | OwnObject | None = self._function(value, copied)
        if isinstance(value, _GENERATORS):
            found = OwnObject(type(value), None, self.address(id(value)), value.__qualname__)
        if found is None and type(value) is type and is_own(value):
            found = OwnClass(value)
        if found is None and _is_object(type(value)):
            found = made = OwnObject(type(value), None, self.address(id(value)))
            self._made[id(value)] = value, made
            if is_own(type(value)):
                inside = object.__getattribute__(value, "__dict__")
                read = {name: _or_none(copied, each) for name, each in [*inside.items()]}
                made.attributes = {name: each for name, each in read.items() if each is not _LEFT_OUT}
        if found is not None:
            self._made[id(value)] = value, found
        return found

    def _function(self, value: Any, copied: Callable[[Any], Any]) -> OwnFunction | None:
        if type(value) is functools._lru_cache_wrapper:
            value = value.__wrapped__
        if type(value) in (BuiltinFunctionType, type) and value in _BUILTINS:
            return builtin(value.__name__)
        if type(value) is functools.partial:
            inner = self._function(value.func, copied)
            if inner is None:
                return None
            given, named = tuple(map(copied, value.args)), {n: copied(x) for n, x in value.keywords.items()}
            return OwnFunction(
                inner.definition, inner.outside, inner.defaults, inner.named | named, (*inner.first, *given)
            )
        if type(value) is MethodType and type(value.__func__) is FunctionType:
            function, holder = self._function(value.__func__, copied), self.of(value.__self__, copied)
            return function.of(holder) if function is not None and holder is not None else None
        if type(value) is not FunctionType:
            return None
        definition = self.definitions.of(value)
        if definition is None:
            return None
        outside = {}
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            held = None if not is_filled(cell) else _or_none(copied, cell.cell_contents)
            if held is not _LEFT_OUT:
                outside[name] = held
        named = {name: copied(each) for name, each in (value.__kwdefaults__ or {}).items()}
        defaults = tuple(map(copied, value.__defaults__ or ()))
        text = f"<function {value.__qualname__} at 0x{self.address(id(value))}>"
        return OwnFunction(definition, outside, defaults, named, text=text)

    def member(self, kind: type, name: str, copied: Callable[[Any], Any]) -> tuple[Any, str] | None:
        """An attribute of a class, with how it is used: ``value``, ``method``, ``property``, or of the class
        itself, ``class``."""
        value = inspect.getattr_static(kind, name, None)
        if isinstance(value, property) and type(value.fget) is FunctionType:
            found, way = self._function(value.fget, copied), "property"
        elif isinstance(value, staticmethod | classmethod):
            found = self._function(value.__func__, copied)
            way = "value" if isinstance(value, staticmethod) else "class"
        elif type(value) is FunctionType:
            found, way = self._function(value, copied), "method"
        else:
            return (copied(value), "value") if value is not None else None
        return None if found is None else (found, way)

    def new_address(self) -> str:
        """Of an object that is made here."""
        self._new += 1
        return self.address(-self._new)

    def address(self, key: int) -> str:
        """Where an object is: elsewhere in each order; in the first two, in each digit but those that the
        system gives all addresses."""
        digits = f"{zlib.crc32(f'{key} {self.order // 2}'.encode()):08x}"
        digits += f"{zlib.crc32(digits.encode()):08x}"
        if self.order % 2:
            digits = "".join(f"{15 - int(each, 16):x}" for each in digits)
        return f"7{digits[: _DIGITS - 2]}0"


def held_by(function: FunctionType) -> dict[str, Any]:
    """What a function keeps: what it is closed over, and its defaults."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found = {name: cell.cell_contents for name, cell in cells if is_filled(cell)}
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = function.__defaults__ or ()
    found |= zip(names[len(names) - len(defaults) :], defaults, strict=True)
    return found | (function.__kwdefaults__ or {})


def hide_addresses(text: str) -> str:
    """A text without the addresses that a normaliser can hide."""
    return _ADDRESS.sub("at", text)


def builtin(name: str) -> OwnFunction:
    """A builtin, as a function that calls it."""
    definition = ast.parse(f"lambda *given: {name}(*given)", mode="eval").body
    assert isinstance(definition, ast.Lambda)
    return OwnFunction(definition, {})


def may_have_address(value: Any) -> bool:
    """Whether the text of a value has its address."""
    if type(value) in (list, tuple, set, dict) and 0 < len(value) <= _ITEMS:
        return any(map(may_have_address, value.values() if type(value) is dict else value))
    return type(value) in (FunctionType, MethodType, *_GENERATORS) or _is_object(type(value))


_LEFT_OUT = object()


def _or_none(copied: Callable[[Any], Any], value: Any) -> Any:
    """A copy of a value; `_LEFT_OUT` where there is none."""
    try:
        return copied(value)
    except UnknownValue:
        return _LEFT_OUT


def is_filled(cell: CellType) -> bool:
    """Whether a variable that a function is closed over has a value."""
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def is_own(kind: type) -> bool:
    """Whether a class is the notebook's, and its objects are used by the methods that it has."""
    own = [each for each in type.mro(kind) if each is not object]
    names = {name for each in own for name in vars(each) if name.startswith("__") and name.endswith("__")}
    if type(kind) is not type or not own or any(each.__module__ != "__main__" for each in own):
        return False
    return names <= (_PLAIN | _OF_DATACLASSES if "__dataclass_fields__" in names else _PLAIN)


def _is_object(kind: Any) -> bool:
    """Whether objects of a class have text with their address, or of the notebook's own, and are compared by
    what they are."""
    if is_own(kind):
        return True
    own: Any = object
    if type(kind) is not type or kind.__eq__ is not own.__eq__ or kind.__hash__ is not own.__hash__:
        return False
    if any(hasattr(kind, name) for name in _TAKING_PART):
        return False
    return kind.__repr__ is own.__repr__ and kind.__str__ is own.__str__


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Definition]]:
    """Functions and lambdas, with their qualified names."""
    for each in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(each, ast.FunctionDef | ast.Lambda):
            name = f"{prefix}{each.name if isinstance(each, ast.FunctionDef) else '<lambda>'}"
            inner = f"{name}.<locals>."
            yield name, each
            outside = [*each.args.defaults, *filter(None, each.args.kw_defaults)]
            outside += getattr(each, "decorator_list", [])
            for one in outside:  # they are computed before
                yield from _definitions(ast.Expr(one), prefix)
            body = ast.Expr(each.body) if isinstance(each, ast.Lambda) else ast.Module(each.body, [])
            yield from _definitions(body, inner)
            continue
        elif isinstance(each, ast.ClassDef):
            inner = f"{prefix}{each.name}."
        elif isinstance(each, ast.AsyncFunctionDef):
            inner = f"{prefix}{each.name}.<locals>."
        yield from _definitions(each, inner)


def _compiled(tree: ast.Module) -> Iterator[CodeType]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            todo = [compile(tree, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)]
        except (SyntaxError, ValueError, RecursionError):
            return
    while todo:
        code = todo.pop()
        yield code
        todo += [each for each in code.co_consts if isinstance(each, CodeType)]


def _key(code: CodeType) -> tuple[Any, ...]:
    """What tells the code of a function from that of another."""
    constants = [each for each in code.co_consts if not isinstance(each, CodeType)]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_qualname, code.co_code, *names, repr(constants)


def _may_order(node: ast.AST) -> bool:
    """Whether a piece of source has sets, or texts of objects."""
    if isinstance(node, ast.Name):
        return node.id in {*_SETS, "repr", "str", "format", "ascii"}
    return isinstance(node, ast.Set | ast.SetComp | ast.JoinedStr)


def generates(definition: ast.FunctionDef) -> bool:
    """Whether a function is a generator, or waits."""
    todo: list[ast.AST] = [*definition.body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            todo += ast.iter_child_nodes(node)
    return False
