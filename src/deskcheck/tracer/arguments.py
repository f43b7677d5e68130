"""What the text of a call's arguments is good for: whether it makes them again, whether it shows them."""

import ast
import sys

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


_CODE = frozenset({"function", "class", "generator"})


def telling(value: Value) -> bool:
    """Whole, with nothing in it that shows nothing of itself, and no code that a reader may not see."""
    return value.whole and not any(
        one.bare or one.kind in _CODE or (one.kind == "text" and _is_code(one.text or ""))
        for one in value.walk()
    )


def _is_code(text: str) -> bool:
    """Whether the text of something immutable stands for code that is not the standard library's."""
    if text.startswith("<class '"):
        module, dot, _ = text[8:].partition(".")
        return bool(dot) and module not in sys.stdlib_module_names
    return text.startswith("<function ")
