"""The names of a program's top level that an answer may use, by the use that is allowed.

An answer is evaluated before the call that it is about. The code that it calls must not change the program,
and must not return anything that reaches further. So an answer may call a function or a class of the program
only if its whole source is known and consists of what a list allows as harmless. Everything else is refused.
"""

import ast
import collections
import datetime
import decimal
import fractions
import importlib
import symtable
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cache

BUILTINS = frozenset(
    "abs all any ascii bin bool bytearray bytes chr complex dict divmod enumerate filter float frozenset hex "
    "int iter len list map max min oct ord range repr reversed round set slice sorted str sum tuple zip "
    "ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError "
    "NotImplemented NotImplementedError OverflowError RuntimeError StopIteration TypeError ValueError "
    "ZeroDivisionError Ellipsis".split()
)
"""Builtins that an answer may use."""
_BUILTINS_OF_PROGRAMS = BUILTINS | frozenset(
    "BaseException StopAsyncIteration UnicodeError callable classmethod hash isinstance issubclass next "
    "object pow print property staticmethod super".split()
)
"""Builtins that a function of the program may use which an answer calls."""

_MEMBERS: dict[str, frozenset[str] | None] = {
    "collections": frozenset(
        "ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque namedtuple".split()
    ),
    "datetime": frozenset("MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo".split()),
    "decimal": frozenset(
        "Decimal DecimalException DecimalTuple DivisionByZero InvalidOperation ROUND_05UP ROUND_CEILING "
        "ROUND_DOWN ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP".split()
    ),
    "fractions": frozenset({"Fraction"}),
    "itertools": None,
    "math": None,
    "string": frozenset(
        "Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits "
        "printable punctuation whitespace".split()
    ),
}
"""Standard modules, and the members that may be used if the program imports them; None: all public members.

Not ``string.Formatter``, which reads attributes that a text names, nor ``decimal``'s contexts, which the
program calculates in.
"""

_VALUES: tuple[type, ...] = (
    *(str, bytes, bytearray, list, tuple, dict, set, frozenset, int, float, complex, range),
    *(collections.ChainMap, collections.Counter, collections.OrderedDict, collections.defaultdict),
    *(collections.deque, decimal.Decimal, fractions.Fraction),
    *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
)
_HARMFUL = {str: frozenset({"format", "format_map"})}
"""``'{0.__globals__}'.format(f)`` reads attributes without writing one."""

_DECORATORS = frozenset("cache classmethod dataclass lru_cache property staticmethod total_ordering".split())
_DUNDERS = frozenset({"__init__", "__name__"})
"""Attributes of this form that a function of the program may read."""


def _public(kind: type) -> frozenset[str]:
    return frozenset(name for name in dir(kind) if not name.startswith("_"))


_REFUSED = frozenset().union(*_HARMFUL.values())
METHODS = frozenset().union(*map(_public, _VALUES)) - _REFUSED
"""Methods that an answer may call.

The name is enough, without the type: each is a method of at least one type that a value in an answer can
have, and harmless in every such type. Other values in answers are objects of the program's classes.
"""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a program's top level, by the use that an answer may make of them."""

    constants: frozenset[str] = frozenset()
    """Plain values that cannot change, and names that are imported from harmless modules."""
    changeable: frozenset[str] = frozenset()
    """Plain values that a method could change."""
    functions: frozenset[str] = frozenset()
    """Functions of the program that may be called."""
    classes: frozenset[str] = frozenset()
    """Classes of the program that may be called."""
    opaque: frozenset[str] = frozenset()
    """All other definitions. They may be passed as arguments, but not used before the call."""
    methods: frozenset[str] = frozenset()
    """The methods of `classes`."""
    modules: Mapping[str, str] = field(default_factory=dict)
    """Name in the program -> harmless module."""
    shadowed: frozenset[str] = frozenset()
    """Builtins whose names the program binds to something else."""


_KINDS = ("constants", "changeable", "functions", "classes", "opaque")


def names_of(*sources: str) -> Names:
    """The names that the top level of the sources binds, without dunder names and unreadable sources."""
    readable = [names for names in map(_names_in, sources) if names is not None]
    merged: dict[str, str] = {}
    for names in readable:
        for kind in _KINDS:
            for name in getattr(names, kind):
                # Sources that bind it to different things say nothing about it together.
                merged[name] = kind if merged.get(name, kind) == kind else "opaque"
    modules: dict[str, str] = {}
    for names in readable:
        modules |= names.modules
    return Names(
        **{
            kind: frozenset(n for n, kind_of_name in merged.items() if kind_of_name == kind)
            for kind in _KINDS
        },
        methods=frozenset().union(*(names.methods for names in readable)),
        modules={name: module for name, module in modules.items() if name not in merged},
        shadowed=frozenset().union(*(names.shadowed for names in readable)),
    )


@cache
def is_member(module: str, name: str) -> bool:
    """Whether an answer may use this member of a module."""
    if module not in _MEMBERS or name.startswith("_"):
        return False
    members = _MEMBERS[module]
    return name in members if members is not None else hasattr(importlib.import_module(module), name)


def integer(node: ast.expr) -> int | None:
    """The integer that an expression writes down, or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        node = node.operand
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(map(_is_constant, node.elts))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant)


def _is_data(node: ast.expr) -> bool:
    """A display of plain values."""
    match node:
        case ast.List(elts=items) | ast.Set(elts=items) | ast.Tuple(elts=items):
            return all(map(_is_data, items))
        case ast.Dict(keys=keys, values=values):
            return all(key is not None and _is_data(key) for key in keys) and all(map(_is_data, values))
    return _is_constant(node)


def _names_in(source: str) -> Names | None:
    try:
        return _TopLevel(source).names()
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


class _TopLevel:
    def __init__(self, source: str) -> None:
        self.body = ast.parse(source).body
        self.tables: dict[str, symtable.SymbolTable] = {}
        for table in _below(symtable.symtable(source, "<program>", "exec")):
            self.tables[table.get_name()] = table
        times = collections.Counter(_bound(self.body))
        self.bound = frozenset(times)
        self.once = {name for name, count in times.items() if count == 1 and not name.startswith("__")}

    def names(self) -> Names:
        defined: set[str] = set()
        constants: set[str] = set()
        changeable: set[str] = set()
        modules: dict[str, str] = {}
        definitions: dict[str, ast.FunctionDef | ast.ClassDef] = {}
        records: set[str] = set()
        for node in self.body:
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    defined.add(name)
                    definitions[name] = node
                case ast.AsyncFunctionDef(name=name):
                    defined.add(name)
                case ast.Import(names=aliases):
                    modules |= {a.asname or a.name: a.name for a in aliases if a.name in _MEMBERS}
                case ast.ImportFrom(module=str(module), names=aliases, level=0):
                    constants |= {a.asname or a.name for a in aliases if is_member(module, a.name)}
                case ast.Assign(targets=targets, value=value):
                    names = {target.id for target in targets if isinstance(target, ast.Name)}
                    defined |= names
                    if _is_constant(value):
                        constants |= names
                    elif _is_data(value):
                        changeable |= names
                    elif _is_record(value):
                        records |= names
        context = _Known(
            constants=frozenset(constants & self.once),
            modules={name: module for name, module in modules.items() if name in self.once},
            bound=self.bound,
        )
        records &= self.once
        pure = records | (self.once & definitions.keys())
        while True:
            still_pure = {n for n in pure if n in records or self._is_pure(n, definitions[n], context, pure)}
            if still_pure == pure:
                break
            pure = still_pure
        classes = {n for n in pure if n in records or isinstance(definitions[n], ast.ClassDef)}
        methods = {
            item.name
            for name in classes - records
            for item in definitions[name].body
            if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")
        }
        changeable &= self.once
        public = {name for name in defined if not name.startswith("__")}
        return Names(
            constants=context.constants,
            changeable=frozenset(changeable),
            functions=frozenset(pure - classes),
            classes=frozenset(classes),
            opaque=frozenset(public - context.constants - changeable - pure),
            methods=frozenset(methods - _REFUSED),
            modules=context.modules,
            shadowed=self.bound & BUILTINS,
        )

    def _is_pure(
        self, name: str, node: ast.FunctionDef | ast.ClassDef, context: "_Known", pure: set[str]
    ) -> bool:
        table = self.tables.get(name)
        return table is not None and _is_pure(node, table, context, pure)


@dataclass(frozen=True, slots=True)
class _Known:
    constants: frozenset[str]
    modules: dict[str, str]
    bound: frozenset[str]
    """All names of the top level: no builtins."""


def _below(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """The symbol tables of definitions at a top level, without those of type parameters in between."""
    for child in table.get_children():
        if child.get_type() in ("function", "class"):
            yield child
        else:
            yield from _below(child)


def _all_below(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _all_below(child)


def _bound(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Every name that statements bind at the top level, once for each binding; also by ``global``. A binding
    within a compound statement counts twice, because it may not happen, or happen again."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
            yield from (n for sub in ast.walk(node) if isinstance(sub, ast.Global) for n in sub.names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr)):
            yield from _stored(node)
        else:
            inside = [*_stored(node), *_bound(_definitions(node))]
            yield from inside
            yield from inside


def _definitions(node: ast.stmt) -> Iterator[ast.stmt]:
    for sub in ast.walk(node):
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
        if sub is not node and isinstance(sub, kinds):
            yield sub


def _stored(node: ast.AST) -> Iterator[str]:
    for sub in ast.walk(node):
        match sub:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
            case ast.Global(names=names):
                yield from names


def _is_record(node: ast.expr) -> bool:
    """``namedtuple("Point", "x y")``."""
    match node:
        case ast.Call(
            func=ast.Name(id="namedtuple") | ast.Attribute(attr="namedtuple"), args=args, keywords=[]
        ):
            return len(args) == 2 and all(map(_is_data, args))
    return False


def _is_pure(
    node: ast.FunctionDef | ast.ClassDef,
    table: symtable.SymbolTable,
    context: _Known,
    pure: Set[str],
) -> bool:
    """Whether a call of it changes only its arguments and new objects, and uses only harmless names."""
    if not all(map(_is_harmless_decorator, node.decorator_list)):
        return False
    for scope in _all_below(table):
        if scope is table and isinstance(node, ast.ClassDef):
            continue  # its body is looked at below; it has run, and its annotations too
        for symbol in scope.get_symbols():
            if symbol.is_declared_global():
                return False
            if symbol.is_global() and not _is_harmless(symbol.get_name(), context, pure):
                return False
    if isinstance(node, ast.ClassDef) and not _is_plain_class(node, context, pure):
        return False
    for sub in ast.walk(node):
        match sub:
            case ast.Import() | ast.ImportFrom() | ast.Await() | ast.AsyncFunctionDef():
                return False
            case ast.FunctionDef(args=args):
                defaults = [*args.defaults, *(d for d in args.kw_defaults if d is not None)]
                if not all(map(_is_constant, defaults)):
                    return False
                if not all(map(_is_harmless_decorator, sub.decorator_list)):
                    return False
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in context.modules:
                if not is_member(context.modules[name], attr):
                    return False
            case ast.Attribute(attr=attr) if attr.startswith("__") and attr not in _DUNDERS:
                return False
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                root: ast.AST = sub
                while isinstance(root, (ast.Attribute, ast.Subscript)):
                    root = root.value
                named = isinstance(root, ast.Name)
                if not named or root.id in {"cls", *pure, *context.constants}:  # type: ignore[attr-defined]
                    return False
    return _modules_only_by_member(node, context)


def _is_harmless(name: str, context: _Known, pure: Set[str]) -> bool:
    if name in context.constants or name in context.modules or name in pure:
        return True
    return name in _BUILTINS_OF_PROGRAMS and name not in context.bound


def _modules_only_by_member(node: ast.AST, context: _Known) -> bool:
    """Whether no module is itself handed on."""
    by_member = {id(sub.value) for sub in ast.walk(node) if isinstance(sub, ast.Attribute)}
    return all(
        id(sub) in by_member
        for sub in ast.walk(node)
        if isinstance(sub, ast.Name) and sub.id in context.modules
    )


def _is_harmless_decorator(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=func):
            return _is_harmless_decorator(func) and all(_is_constant(k.value) for k in node.keywords)
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name):
            return name in _DECORATORS or name == "setter"
    return False


def _is_plain_class(node: ast.ClassDef, context: _Known, pure: Set[str]) -> bool:
    """Whether a class has no metaclass, no base but plain ones, and keeps nothing that can change."""
    plain = {"object", "NamedTuple", *pure, *context.constants, *(BUILTINS - context.bound)}
    if node.keywords or not all(isinstance(base, ast.Name) and base.id in plain for base in node.bases):
        return False
    for item in node.body:
        match item:
            case ast.FunctionDef() | ast.Pass() | ast.Expr(value=ast.Constant()) | ast.AnnAssign(value=None):
                continue
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                if not _is_constant(value) and not _is_field(value):
                    return False
            case _:
                return False
    return True


def _is_field(node: ast.expr) -> bool:
    """``field(default_factory=list)``."""
    match node:
        case ast.Call(func=ast.Name(id="field"), args=[], keywords=keywords):
            plain = all(isinstance(k.value, (ast.Constant, ast.Name)) for k in keywords)
            return plain and all(k.value.id in BUILTINS for k in keywords if isinstance(k.value, ast.Name))
    return False
