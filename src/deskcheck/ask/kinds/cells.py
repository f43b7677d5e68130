"""The answers of ``deskcheck/guess`` to questions about notebooks."""

import ast
import math
import re

from deskcheck.ask.samples.guessing import called_name, guesses, is_literal, tree_of
from deskcheck.ask.samples.prompts import NOW, STATE
from deskcheck.fences import FENCED

_EXECUTED = re.compile(
    r"^In \[[\d ]*\], cell (\S+):\n(`{3,})python\n(.*?)\n\2\n(?:It showed:\n(`{3,})\n(.*?)\n\4\n)?",
    re.DOTALL | re.MULTILINE,
)


@guesses("cell_output")
def _cell_output(prompt: str) -> str:
    """The text that the cell prints, and its last expression; else what the same cell showed before.

    It can give literals, variables whose value the prompt shows or a cell assigned as a literal, and their
    shape and length.
    """
    before, _, now = prompt.rpartition(f"\n\n{NOW} ")
    cell, cut = now.partition(":\n")[0], FENCED.search(now)
    history, _, variables = before.rpartition(STATE)
    executed = _EXECUTED.findall(before + "\n")
    body = tree_of(cut["text"] if cut else "").body
    values = dict(_VARIABLE.findall(variables)) if history else {}
    for source in [source for _, _, source, *_ in executed] if not values else []:
        values |= _assigned(tree_of(source).body)
    values |= _assigned(body)
    lines = [text for node in body if (text := _shown(node, values, last=node is body[-1])) is not None]
    earlier = [text for id_, _, _, _, text in executed if id_ == cell.rpartition(" ")[2]]
    return "\n".join(lines) or (earlier[-1] if earlier else "")


_VARIABLE = re.compile(r"^(\w+): ([^\n]*)$", re.MULTILINE)


def _assigned(body: list[ast.stmt]) -> dict[str, str]:
    """The literals that a cell assigns to names, as its variables are shown: after an equals sign."""
    return {
        target.id: f" = {ast.unparse(node.value)}"
        for node in body
        if isinstance(node, ast.Assign) and is_literal(ast.unparse(node.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _shown(node: ast.stmt, values: dict[str, str], *, last: bool) -> str | None:
    """The text of an expression that a statement prints, or that ends a cell."""
    if not isinstance(node, ast.Expr):
        return None
    if not isinstance(node.value, ast.Call) or called_name(node.value) != "print":
        return _of(node.value, values) if last else None
    texts = [_of(argument, values) for argument in node.value.args]
    plain = [ast.literal_eval(text) if text and is_literal(text) else text for text in texts]
    return " ".join(map(str, plain)) if None not in plain else None


def _of(node: ast.expr, values: dict[str, str]) -> str | None:
    """The value of an expression that is a literal, or that the line of a variable has."""
    if is_literal(ast.unparse(node)):
        return repr(ast.literal_eval(node))
    operand = node.value if isinstance(node, ast.Attribute) else node
    if isinstance(node, ast.Call) and called_name(node) == "len" and len(node.args) == 1:
        operand = node.args[0]
    line = values.get(operand.id) if isinstance(operand, ast.Name) else None
    if line is None:
        return None
    kind, _, value = line.partition(" = ")
    if isinstance(node, ast.Name):
        return value or None
    shape = re.search(r"shape (\([\d, ]*\))", kind)
    length = re.search(r"length (\d+)", kind)
    if shape is None:
        return length[1] if length and isinstance(node, ast.Call) else None
    sizes: tuple[int, ...] = ast.literal_eval(shape[1])
    match node:
        case ast.Attribute(attr="shape"):
            return str(sizes)
        case ast.Attribute(attr="ndim"):
            return str(len(sizes))
        case ast.Attribute(attr="size"):
            return str(math.prod(sizes))
        case ast.Call() if sizes:
            return str(sizes[0])
    return None


@guesses("next_cell")
def _next_cell(prompt: str) -> str:
    """The cell that was executed last."""
    sources = [source for _, _, source, *_ in _EXECUTED.findall(prompt)]
    return sources[-1] if sources else ""


@guesses("crash")
def _crash(prompt: str) -> str:
    return "None"
