"""What the text of a call's arguments is good for: whether it makes them again, whether it shows them.

A guest: standard library and `recording` only. Nothing of the program's is run to find out what an
argument is.
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


def telling(value: Value, code: Container[str] = ()) -> bool:
    """Whole, with nothing in it that shows nothing of itself, and no code that a reader may not see.
    code: qualified names of functions and classes whose text is shown."""
    return all(_tells(part, code) for part in value.walk())


def _tells(value: Value, code: Container[str]) -> bool:
    if value.kind == "opaque":
        return value.type == "object" and value.cut is None  # which has nothing but its identity
    if value.kind in ("function", "class"):
        named = (value.text or "").removeprefix(f"{value.kind} ") in code
    else:
        named = value.kind != "generator" and not (value.kind == "text" and _is_code(value.text or "", code))
    return named and value.cut is None and (not value.bare or value.type in code)


def _is_code(text: str, code: Container[str]) -> bool:
    """Whether the text of something immutable stands for code that is not the standard library's."""
    if text.startswith("<class '"):
        module, dot, _ = text[8:].partition(".")
        return bool(dot) and module not in sys.stdlib_module_names
    return text.startswith("<function ") and text[len("<function ") : -1] not in code
