"""Finds the line numbers of the steps of a run from the texts of the lines.

The compiled code says which lines may follow a line, so that the course of a call, from its beginning to its
return, decides between equal lines. If several courses are possible, steps have several possible lines.
"""

import dis
import inspect
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

from deskcheck.recording import Kind
from deskcheck.recording.program import code_lines

_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE")
_ALWAYS = (*_ENDS, "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class FrameStep(NamedTuple):
    """A step of a frame: its kind, the text of its line, and the line number if it is known."""

    kind: Kind
    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class _Code:
    """The code of a function."""

    name: str
    """The qualified name."""
    first: int
    resumed: bool
    """Whether a call may resume it in the middle."""
    variables: tuple[str, ...]
    """Its variables in the interpreter's order."""
    lines: frozenset[int]
    """All its lines, including the first."""
    after: dict[int, frozenset[int]]
    """The lines that may follow each line."""


Place = tuple[int, int]
"""The number of a code, and a line."""


class Whereabouts:
    """The possible lines of runs of a source. A source that does not compile has none."""

    def __init__(self, source: str) -> None:
        self.codes: list[_Code] = []
        self.texts: dict[str, list[int]] = {}
        for number, line in enumerate(code_lines(source), 1):
            self.texts.setdefault(line.strip(), []).append(number)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                waiting = [compile(source, "<source>", "exec", dont_inherit=True)]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            waiting = []
        while waiting:
            code = waiting.pop()
            waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
            self.codes.append(_read(code))

    def lines_of(self, steps: Sequence[FrameStep]) -> list[list[int]]:
        """The possible lines of each step of a frame, from its call to its return."""
        ways: list[dict[Place, frozenset[Place]]] = []
        before: frozenset[Place] | None = None
        raised = False
        for step in steps:
            possible = {node: frozenset[Place]() for node in self._there(step)}
            if before is not None and not raised:
                reached = {node: self._next(node, step.kind, possible) for node in before}
                reachable = frozenset(node for places in reached.values() for node in places)
                if (
                    reachable
                ):  # else it goes a way that the compiled code does not have: all are possible again
                    ways[-1] = reached
                    possible = {node: frozenset() for node in reachable}
                else:
                    ways[-1] = dict.fromkeys(before, frozenset(possible))
            elif before is not None:
                codes = {code for code, _ in before}
                possible = {node: frozenset() for node in possible if node[0] in codes} or possible
                ways[-1] = {p: frozenset(q for q in possible if q[0] == p[0]) for p in before}
            ways.append(possible)
            before, raised = frozenset(possible), step.kind is Kind.RAISE
        return _both_ways(ways)

    def _there(self, step: FrameStep) -> Iterator[Place]:
        lines = [step.line] if step.line is not None else self.texts.get(step.text.strip() or "?", [])
        for number, code in enumerate(self.codes):
            for line in lines:
                if line in code.lines and (step.kind is not Kind.CALL or line == code.first or code.resumed):
                    yield number, line

    def in_order(self, function: str, line: int, names: Iterable[str]) -> list[str]:
        """The names of a function's variables in the order of the interpreter, any others after them."""
        for code in self.codes:
            if code.name == function and line in code.lines:
                order = {name: at for at, name in enumerate(code.variables)}
                return sorted(names, key=lambda name: order.get(name, len(order)))
        return list(names)

    def _next(self, node: Place, kind: Kind, places: dict[Place, frozenset[Place]]) -> frozenset[Place]:
        number, line = node
        if kind in (Kind.RETURN, Kind.RAISE) and node in places:
            return frozenset([node])
        after = self.codes[number].after.get(line, frozenset())
        if line == self.codes[number].first:
            after |= {line}
        return frozenset((number, next_line) for next_line in after if (number, next_line) in places)


@lru_cache(64)
def whereabouts(source: str) -> Whereabouts:
    return Whereabouts(source)


def _both_ways(ways: Sequence[dict[Place, frozenset[Place]]]) -> list[list[int]]:
    """The lines of each step that are reachable from the beginning and lead to the end."""
    lines: list[list[int]] = []
    following: frozenset[Place] | None = None
    for way in reversed(ways):
        reachable = frozenset(p for p, after in way.items() if following is None or after & following)
        reachable = reachable or frozenset(way)
        lines.append(sorted({line for _, line in reachable}))
        following = reachable
    return lines[::-1]


def _read(code: CodeType) -> _Code:
    line_at: dict[int, int | None] = {}
    for start, end, line in code.co_lines():
        line_at.update(dict.fromkeys(range(start, end, 2), line))
    jumps = {*dis.hasjrel, *dis.hasjabs}
    instructions = list(dis.get_instructions(code))
    edges: dict[int, list[int]] = {}
    for at, instruction in enumerate(instructions):
        targets: list[int] = [instruction.argval] if instruction.opcode in jumps else []
        if instruction.opname not in _ALWAYS and at + 1 < len(instructions):
            targets.append(instructions[at + 1].offset)
        edges[instruction.offset] = targets
    after: dict[int, set[int]] = {}
    for offset in edges:
        line = line_at.get(offset)
        if line is not None:
            after.setdefault(line, set()).update(_leads_to(offset, line, edges, line_at))
    lines = {line for line in line_at.values() if line is not None} | {code.co_firstlineno}
    return _Code(
        code.co_qualname,
        code.co_firstlineno,
        bool(code.co_flags & _RESUMED),
        (*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names),
        frozenset(lines),
        {line: frozenset(next_lines) for line, next_lines in after.items()},
    )


def _leads_to(
    offset: int, line: int, edges: dict[int, list[int]], line_at: dict[int, int | None]
) -> Iterator[int]:
    """The lines of the next instructions. Instructions without a line are skipped."""
    waiting, passed = [(offset, target) for target in edges[offset]], set[int]()
    while waiting:
        origin, target = waiting.pop()
        next_line = line_at.get(target)
        if next_line is None:
            if target not in passed:
                passed.add(target)
                waiting += [(origin, successor) for successor in edges.get(target, ())]
        elif next_line != line or target <= origin:
            yield next_line
