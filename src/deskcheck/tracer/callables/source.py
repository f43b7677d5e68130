"""Finds the definitions of functions and classes in their source, by position and name, without running
it."""

import ast
import copy
import functools
import linecache
from types import CodeType


@functools.lru_cache(32)
def tree_of(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def function_of(code: CodeType) -> ast.Lambda | ast.FunctionDef | None:
    """The definition of a code object, without its decorators; None if it is not found."""
    tree = tree_of(code.co_filename)
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


def class_of(file: str, name: str) -> ast.ClassDef | None:
    """The definition of the class with this qualified name; None unless there is exactly one."""
    definitions = [node for qualname, node in _classes(file) if qualname == name]
    return definitions[0] if len(definitions) == 1 else None


@functools.lru_cache(32)
def _classes(file: str) -> tuple[tuple[str, ast.ClassDef], ...]:
    """(Qualified name, definition) of every class of a file."""
    classes: list[tuple[str, ast.ClassDef]] = []
    todo: list[tuple[str, ast.AST]] = [("", tree_of(file) or ast.Module([], []))]
    while todo:
        prefix, outer = todo.pop()
        for node in ast.iter_child_nodes(outer):
            if isinstance(node, ast.ClassDef):
                classes.append((prefix + node.name, node))
                todo.append((f"{prefix}{node.name}.", node))
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                todo.append((f"{prefix}{node.name}.<locals>.", node))
            else:
                todo.append((prefix, node))
    return tuple(classes)


DOCSTRING = "..."
"""Replaces docstrings of several lines or with doctests, which may reveal the results of calls."""


def text_of(node: ast.AST) -> str | None:
    """The text of a definition. Only short docstrings are kept."""
    try:
        return ast.unparse(_Short().visit(copy.deepcopy(node)))
    except RecursionError:
        return None


class _Short(ast.NodeTransformer):
    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstring = first.value.value
                if isinstance(docstring, str) and ("\n" in docstring.strip() or ">>>" in docstring):
                    first.value.value = DOCSTRING
        return self.generic_visit(node)


def _bare(node: ast.FunctionDef) -> ast.FunctionDef:
    fields = {name: getattr(node, name) for name in node._fields if hasattr(node, name)}
    return ast.FunctionDef(**{**fields, "decorator_list": []}, lineno=node.lineno)


def _begin(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
