"""The conditions and loops of a source whose course the lines of a run show."""

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deskcheck.ask.samples.source import statements
from deskcheck.notation.calls import SOURCES, parsed

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(frozen=True, slots=True)
class Block:
    """An ``if``, ``while`` or ``for`` statement whose body begins on a separate line."""

    keyword: str
    """``if``, ``while`` or ``for``. An ``elif`` is an ``if``."""
    line: int
    """The line of the header, the first if it has several."""
    body: range
    """Lines of the body."""
    last: int
    """Line of the header's end."""
    has_else: bool
    joined: bool
    """Python continues from the end of this loop at its next beginning without a line in between."""

    @property
    def loops(self) -> bool:
        return self.keyword != "if"

    def __contains__(self, line: int) -> bool:
        """Whether a line is in its header or its body, not under ``else``."""
        return self.line <= line <= self.last or line in self.body


@functools.lru_cache(SOURCES)
def blocks(source: str) -> dict[int, Block]:
    """First line of the header -> block.

    Left out: conditions that are constants, for which Python runs no line; headers that are not `plain`
    (`source.Statements`); bodies without a line that runs, such as one with only ``global x``.
    """
    tree, statements_of_text = parsed(source), statements(source)
    if tree is None or statements_of_text is None:
        return {}
    return {
        block.line: block
        for block in _blocks(tree.body, statements_of_text.silent, within=None)
        if block.line in statements_of_text.plain
    }


def _blocks(body: Sequence[ast.stmt], silent: frozenset[int], within: ast.stmt | None) -> Iterator[Block]:
    """within: the loop of whose body these are the statements."""
    for number, node in enumerate(body):
        if isinstance(node, (ast.If, *_LOOPS)):
            joined = number == 0 and isinstance(within, ast.While) and is_constant(within.test)
            if not (isinstance(node, (ast.If, ast.While)) and is_constant(node.test)) and any(
                inner.lineno not in silent for inner in node.body
            ):
                yield _block(node, joined)
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, [])
            yield from _blocks(inner, silent, node if name == "body" and isinstance(node, _LOOPS) else None)
        for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
            yield from _blocks(part.body, silent, None)


def _block(node: ast.If | ast.While | ast.For | ast.AsyncFor, joined: bool) -> Block:
    header = node.test if isinstance(node, (ast.If, ast.While)) else node.iter
    return Block(
        keyword={ast.If: "if", ast.While: "while"}.get(type(node), "for"),
        line=node.lineno,
        body=range(
            min([node.body[0].lineno, *(d.lineno for d in getattr(node.body[0], "decorator_list", []))]),
            (node.body[-1].end_lineno or node.body[-1].lineno) + 1,
        ),
        last=header.end_lineno or header.lineno,
        has_else=bool(node.orelse),
        joined=joined,
    )


def is_constant(test: ast.expr) -> bool:
    """Whether the compiler knows the value of a condition, because it has no names that are looked up."""
    return not any(
        isinstance(node, (ast.Call, ast.Attribute, ast.Await, ast.Yield, ast.NamedExpr, ast.JoinedStr))
        or (isinstance(node, ast.Name) and node.id != "__debug__")
        for node in ast.walk(test)
    )
