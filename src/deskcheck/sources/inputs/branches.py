"""Lines and branches of a function, and which of them a run takes.

A line counts if the compiled function has code for it. A branch is one of the two ways out of an ``if``,
``elif``, ``while``, ``for`` or ``case``: into its body, or past it.

Not counted, because the lines of a run do not show them: statements on one line with their body, conditional
expressions, ``and`` and ``or``, comprehensions, ``except`` clauses, ``async for``. Constant conditions have
no branches.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import NamedTuple

from deskcheck.recording import Kind
from deskcheck.recording.block import rows
from deskcheck.sources.inputs.callables import Definition

EXIT = 0
"""The line of a step that ends the frame by a return."""


class Arc(NamedTuple):
    """A step: two lines that follow each other in a frame."""

    file: str
    before: int
    """The earlier line; 0 at the beginning of the frame."""
    line: int
    raised: bool = False
    """Whether an exception led from one line to the other."""


class Branch(NamedTuple):
    """One of the two ways out of a statement."""

    line: int
    """The first line of the statement."""
    into: bool
    """Whether the way leads into its body, not past it."""


def arcs_of(blocks: Iterable[bytes]) -> Iterator[Arc]:
    """All steps of a run, in order."""
    last_lines: dict[tuple[int, int], int] = {}
    raised: set[tuple[int, int]] = set()
    for row in (row for block in blocks for row in rows(block)):
        frame = (row.thread, row.frame)
        if row.kind == Kind.RAISE:
            raised.add(frame)
        elif row.kind == Kind.LINE:
            yield Arc(row.file, last_lines.get(frame, 0), row.line, frame in raised)
            last_lines[frame] = row.line
            raised.discard(frame)
        elif row.kind == Kind.RETURN:
            yield Arc(row.file, last_lines.get(frame, 0), EXIT, frame in raised)


@dataclass(frozen=True, slots=True)
class _Fork:
    line: int
    head: range
    body: range

    def taken(self, step: Arc) -> Branch | None:
        if step.raised or step.before not in self.head or step.line in self.head:
            return None
        return Branch(self.line, step.line in self.body)


@dataclass(frozen=True, slots=True)
class Coverable:
    """The lines and branches of a function."""

    lines: frozenset[int]
    """Lines with code, also those of inner functions."""
    forks: tuple[_Fork, ...]

    @property
    def branches(self) -> frozenset[Branch]:
        return frozenset(Branch(fork.line, into) for fork in self.forks for into in (True, False))

    def covered_by(self, steps: Iterable[Arc], file: str) -> tuple[frozenset[int], frozenset[Branch]]:
        """The lines and branches that these steps take. file: the file that defines the function."""
        own_steps = {step for step in steps if step.file == file}
        lines = self.lines & {step.line for step in own_steps}
        branches = {fork.taken(step) for step in own_steps for fork in self.forks}
        return frozenset(lines), frozenset(branch for branch in branches if branch is not None)


NONE = Coverable(frozenset(), ())


def coverable_of(text: str, node: Definition | None) -> Coverable:
    """Lines and branches of a function; none without its definition. text: the whole file."""
    if node is None:
        return NONE
    lines = _lines(compile(text, "<text>", "exec", dont_inherit=True), node)
    forks = tuple(fork for fork in _forks(node) if not lines.isdisjoint(fork.body))
    return Coverable(frozenset(lines), forks)


def _lines(module: CodeType, node: Definition) -> set[int]:
    lines: set[int] = set()
    first, last = node.body[0].lineno, node.end_lineno or node.lineno
    waiting = [module]
    while waiting:
        code = waiting.pop()
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        if code.co_name != "<module>":
            lines |= {line for _, _, line in code.co_lines() if line and first <= line <= last}
    return lines


def _forks(node: ast.AST) -> Iterator[_Fork]:
    for child in ast.walk(node):
        match child:
            case ast.If(test=head) | ast.While(test=head) if not _is_constant(head):
                first, last = child.lineno, head.end_lineno or head.lineno
            case ast.For(iter=head):
                first, last = child.lineno, head.end_lineno or head.lineno
            case ast.match_case(pattern=pattern, guard=guard) if guard is not None or not _takes_all(pattern):
                first, last = pattern.lineno, (guard or pattern).end_lineno or pattern.lineno
            case _:
                continue
        body = range(_begin(child.body[0]), (child.body[-1].end_lineno or child.body[-1].lineno) + 1)
        if body.start > last:
            yield _Fork(first, range(first, last + 1), body)


def _begin(node: ast.stmt) -> int:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
    return node.lineno


def _is_constant(test: ast.expr) -> bool:
    match test:
        case ast.Constant() | ast.Name(id="__debug__"):
            return True
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _is_constant(inner)
    return False


def _takes_all(pattern: ast.pattern) -> bool:
    match pattern:
        case ast.MatchAs(pattern=None):
            return True
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _takes_all(inner)
        case ast.MatchOr(patterns=patterns):
            return any(map(_takes_all, patterns))
    return False
