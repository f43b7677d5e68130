"""Judges the text of a call's arguments: whether it can be evaluated, and whether it shows their full value.

A guest: it needs only the standard library and `recording`, and runs no code of the program.
"""

import ast
import sys
from collections.abc import Container

from deskcheck.recording.value import Value

_CONSTRUCTORS = frozenset({"set", "frozenset", "range", "slice", "bytearray"})
_LITERAL = (
    *(ast.Expression, ast.Call, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.keyword),
    *(ast.UnaryOp, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Load),
)


def is_literal(text: str) -> bool:
    """Whether an argument list can be evaluated anywhere. It cannot with ``nan``, or a list inside itself."""
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


def telling(value: Value, code: Container[str] = ()) -> bool:
    """Whether a value is shown completely: no part is cut or without visible contents or hidden code.

    code: qualified names of functions and classes whose text is shown.
    """
    return all(_tells(part, code) for part in value.walk())


def _tells(value: Value, code: Container[str]) -> bool:
    if value.kind == "opaque":
        return value.type == "object" and value.cut is None  # an `object()` has only its identity
    if value.kind in ("function", "class"):
        named = (value.text or "").removeprefix(f"{value.kind} ") in code
    else:
        named = value.kind != "generator" and not (value.kind == "text" and _is_code(value.text or "", code))
    return named and value.cut is None and (not value.bare or value.type in code)


def _is_code(text: str, code: Container[str]) -> bool:
    """Whether the text of an immutable value names code outside of the standard library."""
    if text.startswith("<class '"):
        module, dot, _ = text[8:].partition(".")
        return bool(dot) and module not in sys.stdlib_module_names
    return text.startswith("<function ") and text[len("<function ") : -1] not in code
