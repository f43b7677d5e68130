"""What of a value is the same in each run, and of several values together."""

import ast
from collections.abc import Iterable
from enum import IntEnum


class Known(IntEnum):
    """What of a value is the same in each run."""

    VALUE = 0
    """All of it."""
    TEXT = 1
    """Its own text: a model, by its parameters."""
    ITEMS = 2
    """Its items, not their order."""
    LENGTH = 3
    """The length of its text and its type: a UUID."""
    FORM = 4
    """Its type, length or shape, and that of its items."""
    COUNT = 5
    """How many items it has."""
    TYPE = 6
    """Its type."""
    NOTHING = 7


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
SHUFFLES = frozenset({"shuffle"})


class Unproved(Exception):
    """Something is shown that may be chance."""


def join(known: Iterable[Known]) -> Known:
    """What is the same in each run of several values together."""
    found = {*known} - {Known.VALUE}
    if not found:
        return Known.VALUE
    if len(found) == 1:
        return found.pop()
    if found & {Known.NOTHING, Known.TYPE, Known.TEXT}:
        return Known.NOTHING
    return Known.COUNT if Known.COUNT in found else Known.FORM


def item_of(known: Known) -> Known:
    """What is the same of one item of a value."""
    if known in (Known.VALUE, Known.NOTHING):
        return known
    return Known.FORM if known is Known.FORM else Known.NOTHING


def called(node: ast.Call) -> str:
    """The name of the function or method that is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def base_of(node: ast.expr) -> ast.Name | None:
    """The variable that an expression begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node if isinstance(node, ast.Name) else None
