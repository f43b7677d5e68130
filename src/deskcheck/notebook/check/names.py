"""Names that a cell gives something to, those that it reads, and those whose objects it may change."""

import ast
import re
from collections.abc import Iterator


def bound(source: str) -> set[str]:
    """Names that a cell gives something to, as far as it is Python. ``*``: those of a whole module."""
    tree = _tree(source)
    return set() if tree is None else _bound(tree)


def _bound(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        else:
            found.update(_imported(node))
    return found


def loaded(source: str) -> set[str]:
    """Names that a cell reads or deletes and has not given something to before, as far as it is Python."""
    tree = _tree(source)
    if tree is None:
        return set()
    found: set[str] = set()
    own: set[str] = set()
    for statement in tree.body:
        found |= {*_read(statement)} - own
        if isinstance(statement, _GIVES):
            own |= _bound(statement)
    return found


_GIVES = (
    ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
)  # fmt: skip
"""Statements after which a name has something, if they came to their end."""


def _read(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def modules(source: str) -> set[str]:
    """Names that a cell's imports give something to."""
    tree = _tree(source)
    return set() if tree is None else {name for node in ast.walk(tree) for name in _imported(node)}


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield (alias.asname or alias.name).partition(".")[0]


def changed(source: str) -> set[str]:
    """Names whose objects a cell may change: by an item, an attribute, a method. As far as it is Python."""
    tree = _tree(source)
    found: set[str] = set()
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            found.add(_root(node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found.add(_root(node.func))
    return found - {""}


def _root(node: ast.expr) -> str:
    """The name that an expression begins with; empty where it begins with none."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def written_globals(source: str) -> dict[str, set[str]]:
    """Function that a cell defines -> names of the module that it gives something to."""
    tree = _tree(source)
    found: dict[str, set[str]] = {}
    for function in () if tree is None else ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            named = [node for node in ast.walk(function) if isinstance(node, ast.Global)]
            if named:
                found[function.name] = {name for node in named for name in node.names}
    return found


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.MULTILINE))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
