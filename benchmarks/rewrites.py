"""Cells rewritten: so that they do the same, and so that they nearly do. For `trials.py` and its tests.

All work on the syntax tree and give the new source; cells with magics are left alone."""

import ast
import copy
from collections.abc import Iterator

from deskcheck.notebook.reads import Later, reads

_PURE_CALLS = frozenset(
    "abs bool dict enumerate float int len list max min range round set sorted str sum tuple zip".split()
)
_PURE = (
    ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.List, ast.Tuple,
    ast.Dict, ast.Set, ast.JoinedStr, ast.FormattedValue, ast.Subscript, ast.Slice, ast.Lambda, ast.arguments,
    ast.arg, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.Starred, ast.ListComp,
    ast.SetComp, ast.DictComp, ast.comprehension, ast.Call, ast.keyword,
)  # fmt: skip
_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def _text(tree: ast.AST, source: str) -> str:
    # A semicolon at the end keeps the last value from being shown; the tree does not have it.
    return ast.unparse(tree) + (";" if source.rstrip().endswith(";") else "")


# -- that do the same ------------------------------------------------------------------------------


def renamed(source: str, later: Later) -> str | None:
    """With a temporary renamed: a variable that the cell sets first, then uses, and nobody later reads."""
    tree = _tree(source)
    if tree is None:
        return None
    found = reads(source)
    everywhere = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    taken = everywhere | {
        each.arg for each in ast.walk(tree) if isinstance(each, ast.arg | ast.keyword) and each.arg
    }
    taken |= {
        name for each in ast.walk(tree) if isinstance(each, ast.Global | ast.Nonlocal) for name in each.names
    }
    for name in sorted(found.bound & found.named - found.first):
        if name in later or name.startswith("_") or _bound_inside(tree, name):
            continue
        new = f"{name}_x"
        while new in taken or new in later:
            new += "x"
        tree = _Rename(name, new).visit(tree)
        return _text(tree, source)
    return None


def _bound_inside(tree: ast.Module, name: str) -> bool:
    """Whether a name is anything but a variable of the cell's own: of a function, a class, an import."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                if node.name == name or any(
                    isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store)
                    for each in ast.walk(node)
                ):
                    return True
            case ast.comprehension():
                if any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node.target)):
                    return True
            case ast.arg() | ast.keyword():
                if node.arg == name:
                    return True
            case ast.alias():
                if (node.asname or node.name).partition(".")[0] == name:
                    return True
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
                if node.name == name:
                    return True
            case ast.Global() | ast.Nonlocal():
                if name in node.names:
                    return True
    return False


class _Rename(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.new, node.ctx), node) if node.id == self.old else node


def reordered(source: str) -> str | None:
    """With the first two neighbours swapped that have nothing to do with each other."""
    tree = _tree(source)
    if tree is None:
        return None
    body = tree.body
    for n in range(len(body) - 1):
        if _independent(body[n], body[n + 1]):
            body[n], body[n + 1] = body[n + 1], body[n]
            return _text(tree, source)
    return None


def _independent(one: ast.stmt, other: ast.stmt) -> bool:
    facts, facts_too = _facts(one), _facts(other)
    if facts is None or facts_too is None:
        return False
    (bound, named, consumes), (bound_too, named_too, consumes_too) = facts, facts_too
    if bound & bound_too or bound & named_too or bound_too & named:
        return False
    # Two that go through one iterator have to do with each other.
    return not ((consumes or consumes_too) and named & named_too - _PURE_CALLS)


def _facts(node: ast.stmt) -> tuple[set[str], set[str], bool] | None:
    """Names that a statement binds and reads, and whether it goes through anything; None where it may have
    effects, or raise, otherwise."""
    match node:
        case ast.Import() | ast.ImportFrom():
            if any(alias.name == "*" for alias in node.names):
                return None
            return {(a.asname or a.name).partition(".")[0] for a in node.names}, set(), False
        case ast.FunctionDef(decorator_list=[], args=ast.arguments(defaults=[], kw_defaults=[])):
            return {node.name}, set(), False
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _pure(value):
            named = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
            goes = any(
                isinstance(each, ast.Call | ast.comprehension | ast.Starred) for each in ast.walk(value)
            )
            return {name}, named, goes
    return None


def _pure(value: ast.expr) -> bool:
    for node in ast.walk(value):
        if not isinstance(node, _PURE):
            return False
        if isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Name) and node.func.id in _PURE_CALLS
        ):
            return False
    return True


# -- that nearly do --------------------------------------------------------------------------------


def near_misses(source: str) -> Iterator[tuple[str, str]]:
    """(kind, source): ``constant``, one changed; ``operator``, one changed; ``result``, the last line, whose
    value is shown, left out. The last constant and operator: what comes last is used the least by others."""
    tree = _tree(source)
    if tree is None:
        return
    docs = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node is not tree.body[-1]
    }
    for kind, change in (("constant", _other_constant), ("operator", _other_operator)):
        new = copy.deepcopy(tree)
        originals, copies = list(ast.walk(tree)), list(ast.walk(new))
        for old, node in reversed([*zip(originals, copies, strict=True)]):
            if id(old) not in docs and change(node):
                yield kind, _text(new, source)
                break
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and not source.rstrip().endswith(";"):
        new = copy.deepcopy(tree)
        new.body.pop()
        yield "result", ast.unparse(new)


def _other_constant(node: ast.AST) -> bool:
    if not isinstance(node, ast.Constant):
        return False
    match node.value:
        case bool():
            node.value = not node.value
        case int() | float():
            node.value += 1
        case str():
            node.value += "x"
        case _:
            return False
    return True


def _other_operator(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in _OPERATORS:
            node.op = _OPERATORS[type(op)]()  # type: ignore[assignment]
        case ast.Compare(ops=[op]) if type(op) in _OPERATORS:
            node.ops = [_OPERATORS[type(op)]()]  # type: ignore[list-item]
        case _:
            return False
    return True
