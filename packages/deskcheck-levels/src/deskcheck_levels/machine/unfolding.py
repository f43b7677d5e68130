"""A program's syntax tree, so changed that the compiler computes nothing of it.

Of operators whose operands are literals, one literal becomes a global variable, which the machine reads. What
the compiler makes one constant of has one place in the text; so here all its parts are put there, or the line
events would differ. Of constants that a `while` tests, no test is made: the compiler decides there.
"""

import ast
from collections.abc import Iterable
from typing import Any

from deskcheck_levels.machine.frames import OutsideLanguage, body

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
_FOLDED = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.Subscript, ast.Slice)
_ONE_CONSTANT = {"RESUME", "RETURN_VALUE", "RETURN_CONST"} | {
    f"LOAD_{name}" for name in ("CONST", "SMALL_INT", "COMMON_CONSTANT")
}
_FEWEST = 3
"""Items of a list or a set that the compiler makes one constant of, where they are all constants."""


def unfolded(code: str, names: dict[str, Any]) -> ast.Module:
    """The tree. names: literals are put into it.

    Raises:
        OutsideLanguage: a literal, or a comprehension, that is not of the declared language.
        SyntaxError, ValueError: no program of Python.
    """
    tree = ast.parse(code)
    refuse_literals(tree)
    _Unfolding(names).visit(tree)
    return tree


def refuse_literals(tree: ast.AST) -> None:
    """Raises OutsideLanguage for a literal of a kind, or a comprehension, that the machine does not run."""
    for node in _nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, (bytes, complex)):
            raise OutsideLanguage(f"a literal of the kind {type(node.value).__name__}")
        if isinstance(node, _COMPREHENSIONS) and node.lineno != node.end_lineno:
            # Which of its lines are events differs between versions, and between it and other loops.
            raise OutsideLanguage("a comprehension of several lines")


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """A node and all below it but those without fields, twice as fast as `ast.walk`: most of what a short run
    costs is to read its program."""
    nodes = [tree]
    for node in nodes:
        nodes += _below(node)
    return nodes


def _below(node: ast.AST) -> list[ast.AST]:
    children: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            children += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST) and value._fields:  # `Load`, `Add` and the like have nothing to say
            children.append(value)
    return children


class _Unfolding(ast.NodeVisitor):
    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def generic_visit(self, node: ast.AST) -> None:
        for child in _below(node):
            self.visit(child)

    def visit_MatchValue(self, node: ast.MatchValue) -> None:
        pass  # a pattern holds literals alone

    def visit_While(self, node: ast.While) -> None:
        if not _is_constant(node.test):
            self.visit(node.test)
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    def visit_For(self, node: ast.For) -> None:
        _gather(node.iter, fewest=1)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        _gather(node.iter, fewest=1)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, (ast.In, ast.NotIn)):
                _gather(comparator, fewest=1)
        self.generic_visit(node)

    def visit_List(self, node: ast.List) -> None:
        _gather(node, fewest=_FEWEST)
        self.generic_visit(node)

    def visit_Set(self, node: ast.Set) -> None:
        _gather(node, fewest=_FEWEST)
        self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        if _is_constant(node):
            _put(node.elts, node)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if _is_constant(node):
            _put((node.left, node.right), node)
        if _is_literal(node.left) and _is_literal(node.right):
            node.left = self._read(node.left)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if _is_constant(node):
            _put((node.operand,), node)
        if not isinstance(node.op, ast.Not) and not _is_literal(node) and _is_literal(node.operand):
            node.operand = self._read(node.operand)
        self.generic_visit(node)

    def _read(self, literal: ast.expr) -> ast.expr:
        """A variable in the place of a literal."""
        name = f"__literal_{len(self.names)}__"
        self.names[name] = ast.literal_eval(literal)
        return ast.copy_location(ast.Name(name, ast.Load()), literal)


def _is_literal(node: ast.expr) -> bool:
    """Whether it is written as a value; a number may have a sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant) and type(node.operand.value) in (int, float)
    return isinstance(node, ast.Constant)


def _is_constant(node: ast.expr) -> bool:
    """Whether the compiler of this Python makes one constant of it."""
    if isinstance(node, ast.Constant):
        return True
    parts = [part for part in ast.walk(node) if isinstance(part, ast.expr)]
    if not isinstance(node, _FOLDED) or not all(isinstance(part, _FOLDED) for part in parts):
        return False
    if isinstance(node, (ast.Tuple, ast.Subscript)) and not _is_read(node):
        return False
    operations = body(compile(ast.Expression(node), "<constant>", "eval", dont_inherit=True)).operations
    return set(operations) <= _ONE_CONSTANT


def _gather(node: ast.expr, *, fewest: int) -> None:
    """Puts the items of a display to its place, where the compiler makes one constant of them."""
    if not isinstance(node, (ast.List, ast.Set)) or (isinstance(node, ast.List) and not _is_read(node)):
        return
    if len(node.elts) >= fewest and all(_is_constant(item) for item in node.elts):
        _put(node.elts, node)


def _is_read(node: ast.List | ast.Tuple | ast.Subscript) -> bool:
    """Whether it is a value, not a target."""
    return isinstance(node.ctx, ast.Load)


def _put(parts: Iterable[ast.expr], where: ast.expr) -> None:
    for part in parts:
        for node in ast.walk(part):
            if isinstance(node, ast.expr):
                ast.copy_location(node, where)
