"""What the text of a call's arguments is good for: whether it makes them again, whether it shows them.

A guest: standard library and `recording` only. Nothing of the program's is run to find out what an
argument is.
"""

import ast
import builtins
import dis
import functools
import itertools
import linecache
import sys
from collections.abc import Container, Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from deskcheck.recording.value import Value
from deskcheck.tracer.snapshot import bases_of, exact, fields_of, module_of, qualified_name

_CONSTRUCTORS = frozenset({"set", "frozenset", "range", "slice", "bytearray"})
_LITERAL = (
    *(ast.Expression, ast.Call, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.keyword),
    *(ast.UnaryOp, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Load),
)


def is_literal(text: str) -> bool:
    """Whether an argument list can be evaluated anywhere: not with a ``nan`` in it, or a list in itself."""
    try:
        tree = ast.parse(f"f{text}", mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    assert isinstance(tree.body, ast.Call)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if id(node) not in called or (node.id not in _CONSTRUCTORS and node is not tree.body.func):
                return False
        elif not isinstance(node, _LITERAL) or (isinstance(node, ast.Constant) and node.value is ...):
            return False
    return True


_CODE = frozenset({"class", "generator"})


def telling(value: Value, functions: Container[str] = ()) -> bool:
    """Whole, with nothing in it that shows nothing of itself, and no code that a reader may not see.
    functions: qualified names of those whose text is shown."""
    return value.whole and not any(
        one.bare
        or one.kind in _CODE
        or (one.kind == "function" and (one.text or "").removeprefix("function ") not in functions)
        or (one.kind == "text" and _is_code(one.text or "", functions))
        for one in value.walk()
    )


def _is_code(text: str, functions: Container[str]) -> bool:
    """Whether the text of something immutable stands for code that is not the standard library's."""
    if text.startswith("<class '"):
        module, dot, _ = text[8:].partition(".")
        return bool(dot) and module not in sys.stdlib_module_names
    return text.startswith("<function ") and text[len("<function ") : -1] not in functions


# -- functions among them -------------------------------------------------------------------------------

MOST_FUNCTIONS = 8
"""Of one call, with those that they call themselves."""
MOST_LINES = 60
"""Of all of them."""
MOST_CHARS = 3_000
_MOST_OBJECTS = 300
"""Looked at in search of functions."""

_class_name = type.__dict__["__qualname__"].__get__
_CONTAINERS = (list, tuple, set, frozenset)
_ATOMS = (int, float, complex, str, bytes, bool, type(None))


def functions_in(values: Iterable[Any]) -> list[FunctionType]:
    """The functions of Python that are reached from some values, in the order in which they are found."""
    found: dict[int, FunctionType] = {}
    seen: set[int] = set()
    todo = [*values][::-1]
    while todo and len(seen) < _MOST_OBJECTS:
        value = todo.pop()
        kind = type(value)
        if id(value) in seen or kind in _ATOMS:
            continue
        seen.add(id(value))
        if kind is FunctionType:
            found[id(value)] = value
        elif kind in _CONTAINERS:
            todo += [*itertools.islice(value, _MOST_OBJECTS)][::-1]
        elif kind is dict:
            pairs = itertools.islice(value.items(), _MOST_OBJECTS)
            todo += [part for pair in pairs for part in pair][::-1]
        elif kind is functools.partial:
            todo += [value.keywords, value.args, value.func]
        elif kind is not ModuleType and kind is not functools._lru_cache_wrapper and not _is_class(kind):
            todo += [*fields_of(value, bases_of(kind)).values()][::-1]
    return [*found.values()]


def texts_of(given: Iterable[FunctionType]) -> dict[str, str]:
    """Qualified name of a function -> its text, below it what it closes over and the globals that it reads.

    What such a function calls is among them, too. A function of which this cannot be said in full is not:
    one that reads a global variable which may change, or whose source is not there; two of one name.
    """
    found: dict[str, tuple[FunctionType, str] | None] = {}
    todo = [*given]
    needs: dict[str, set[str]] = {}
    while todo and len(found) <= MOST_FUNCTIONS:
        function = todo.pop(0)
        name = qualified_name(function.__qualname__)
        known = found.get(name)
        if name in found:
            if known is not None and known[0] is not function:
                found[name] = None
            continue
        told = _told(function)
        if told is None:
            found[name] = None
            continue
        text, others = told
        found[name] = function, text
        needs[name] = {qualified_name(other.__qualname__) for other in others}
        todo += others
    if len(found) > MOST_FUNCTIONS:
        return {}
    whole = {name: each[1] for name, each in found.items() if each is not None}
    while unknown := [name for name in whole if any(other not in whole for other in needs[name])]:
        for name in unknown:
            del whole[name]
    if sum(text.count("\n") + 1 for text in whole.values()) > MOST_LINES:
        return {}
    return whole if sum(map(len, whole.values())) <= MOST_CHARS else {}


def _told(function: FunctionType) -> tuple[str, list[FunctionType]] | None:
    """The text of one function, and the functions that it needs; None where there is more to it."""
    if dict.__len__(function.__dict__):
        return None
    node = _node_of(function.__code__)
    if node is None:
        return None
    reads = _reads(node, function.__code__)
    if reads is None:
        return None
    notes: list[str] = []
    others: list[FunctionType] = []
    closed = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    try:
        known = {name: cell.cell_contents for name, cell in closed}
    except ValueError:  # not set yet
        return None
    for name in sorted(reads - known.keys()):
        if name in function.__globals__:
            known[name] = function.__globals__[name]
        elif not hasattr(builtins, name):
            return None
    for name, value in known.items():
        if type(value) is FunctionType and not _of_the_library(value.__module__):
            others.append(value)
            if (own := qualified_name(value.__qualname__)) != name:
                notes.append(f"{name} = {own}")
        elif (note := _note(name, value)) is None:
            return None
        elif note:
            notes.append(note)
    try:
        text = ast.unparse(node)
    except RecursionError:
        return None
    return "\n".join([text, *(f"# {note}" for note in notes)]), others


def _note(name: str, value: Any) -> str | None:
    """What is said of a global or of what is closed over. Empty where the name says it; None where nothing
    short says all."""
    kind = type(value)
    if kind is ModuleType:
        module = vars(value).get("__name__")
        if not _of_the_library(module):
            return None
        return "" if module == name else f"{name} is the module {module}"
    if _is_class(kind) or kind is FunctionType or kind is BuiltinFunctionType:
        module = module_of(value) if _is_class(kind) else value.__module__
        own = _class_name(value) if _is_class(kind) else exact(value.__qualname__)
        if type(module) is not str or type(own) is not str or not _of_the_library(module):
            return None
        if module == "builtins" and own == name:
            return ""
        return f"{name} is {own}" if module == "builtins" else f"{name} is {module}.{own}"
    if kind in _ATOMS and (kind not in (str, bytes) or len(value) <= 80):
        return f"{name} = {value!r}"
    if kind is tuple and all(type(item) in _ATOMS for item in value) and len(repr(value)) <= 80:
        return f"{name} = {value!r}"
    return None


def _is_class(kind: type) -> bool:
    """Whether what is of this type is a class; without `isinstance`, which would ask it."""
    return any(base is type for base in bases_of(kind))


def _of_the_library(module: Any) -> bool:
    return (
        type(module) is str and module.partition(".")[0] in sys.stdlib_module_names and module != "__main__"
    )


# -- source --------------------------------------------------------------------------------------------


@functools.lru_cache(32)
def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _node_of(code: CodeType) -> ast.Lambda | ast.FunctionDef | None:
    """The definition that the code was made from, without its decorators."""
    tree = _tree(code.co_filename)
    if tree is None:
        return None
    if code.co_name == "<lambda>":
        spans = {(line, column) for line, _, column, _ in code.co_positions() if line and column is not None}
        spans.discard((code.co_firstlineno, 0))
        fitting = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Lambda)
            and node.lineno == code.co_firstlineno
            and all(_begin(node.body) <= span <= _end(node.body) for span in spans)
        ]
        return max(fitting, key=lambda node: _begin(node), default=None)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == code.co_firstlineno:
                return _bare(node)
    return None


def _bare(node: ast.FunctionDef) -> ast.FunctionDef:
    fields = {name: getattr(node, name) for name in node._fields if hasattr(node, name)}
    return ast.FunctionDef(**{**fields, "decorator_list": []}, lineno=node.lineno)


def _begin(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _reads(node: ast.Lambda | ast.FunctionDef, code: CodeType) -> set[str] | None:
    """Names that the function has from outside: globals and what it closes over. None if that cannot be said,
    or if it changes something there."""
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ClassDef)):
            return None
    defaults = [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)]
    if not all(isinstance(each, ast.Constant) for each in defaults):
        return None
    return {*code.co_freevars, *_globals_read(code)}


def _globals_read(code: CodeType) -> Iterator[str]:
    """By the code and by what is defined in it."""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for const in code.co_consts:
        if type(const) is CodeType:
            yield from _globals_read(const)
