"""The functions that a file defines, and which of them a call can name.

Read from the syntax tree; nothing runs. Every ``def`` and ``async def`` is one function. Lambdas are not.
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
    """A function of a file. name: qualified, as ``Class.method`` or ``outer.<locals>.inner``. why_not: why no
    call can name it; None where one can."""

    name: str
    node: Definition
    why_not: str | None

    @property
    def first_line(self) -> int:
        """Where it begins, with its decorators: what its code object says."""
        return min([self.node.lineno, *(decorator.lineno for decorator in self.node.decorator_list)])


def callables(tree: ast.Module, *, methods: bool = False) -> list[Callable_]:
    """Every function of a module, in the order of the text. methods: whether a call may name a method, whose
    object is then among its arguments.

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
            why = why_not or (PRIVATE if statement.name.startswith("_") else None)
            yield from _inside(statement.body, f"{prefix}{statement.name}.", why, in_class=True)
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
