"""Names that a cell gives something to, and those that it reads."""

import ast
import re


def bound(source: str) -> set[str]:
    """Names that a cell gives something to at its top level, as far as it is Python."""
    tree = _tree(source)
    if tree is None:
        return set()
    found = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
    return found


def loaded(source: str) -> set[str]:
    """Names that a cell reads or deletes, as far as it is Python."""
    tree = _tree(source)
    if tree is None:
        return set()
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)
    }


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.MULTILINE))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
