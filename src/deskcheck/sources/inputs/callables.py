"""The functions that a file defines, and which of them can be called by name.

They are read from the syntax tree, without running code. Every ``def`` and ``async def`` is a function;
lambdas are left out.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from deskcheck.sources.text.python import statements

Definition = ast.FunctionDef | ast.AsyncFunctionDef
LOCAL = "inside a function"
PRIVATE = "private"
METHOD = "needs an instance"
PROPERTY = "is a property"
_PROPERTIES = {"property", "cached_property", "setter", "getter", "deleter"}


@dataclass(frozen=True, slots=True)
class Callable_:
    """A function of a file."""

    name: str
    """Qualified name, such as ``Class.method`` or ``outer.<locals>.inner``."""
    node: Definition
    why_not: str | None
    """The reason why it cannot be called by name; None if it can."""

    @property
    def first_line(self) -> int:
        """The first line with its decorators, which is the first line of its code object."""
        return min([self.node.lineno, *(decorator.lineno for decorator in self.node.decorator_list)])


def callables(tree: ast.Module, *, methods: bool = False) -> list[Callable_]:
    """All functions of a module, in the order of the text.

    methods: whether methods can be called too, with their object as an argument.

    Raises:
        RecursionError: statements are nested too deeply.
    """
    functions = list(_inside(tree.body, "", None, in_class=False))
    if not methods:
        return functions
    return [
        replace(function, why_not=PROPERTY if _is_property(function.node) else None)
        if function.why_not == METHOD
        else function
        for function in functions
    ]


def _is_property(node: Definition) -> bool:
    names = {
        mark.id if isinstance(mark, ast.Name) else mark.attr
        for mark in node.decorator_list
        if isinstance(mark, (ast.Name, ast.Attribute))
    }
    return not names.isdisjoint(_PROPERTIES)


def _inside(body: list[ast.stmt], prefix: str, why_not: str | None, *, in_class: bool) -> Iterator[Callable_]:
    for statement in statements(body):
        if isinstance(statement, ast.ClassDef):
            reason = why_not or (PRIVATE if statement.name.startswith("_") else None)
            yield from _inside(statement.body, f"{prefix}{statement.name}.", reason, in_class=True)
        elif isinstance(statement, Definition):
            name = f"{prefix}{statement.name}"
            yield Callable_(name, statement, why_not or _why_not(statement, in_class=in_class))
            yield from _inside(statement.body, f"{name}.<locals>.", LOCAL, in_class=False)


def _why_not(node: Definition, *, in_class: bool) -> str | None:
    if node.name.startswith("_"):
        return PRIVATE
    if in_class:
        plain = {mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)}
        if not plain & {"staticmethod", "classmethod"}:
            return METHOD
    return None
