"""What a machine's run is made of: frames, functions, generators, its own iterators and errors."""

import dis
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType
from typing import Any

GENERATOR = 0x20
STAR, STAR_STAR = 0x04, 0x08


class OutsideLanguage(Exception):
    """The program does something that is not in the declared language of the level."""


class Raised(Exception):
    """The program raised an exception: `error`, a real one."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


class StepsSpent(Exception):
    """The run has made all the steps that it was allowed."""


class _Null:
    """Where bytecode keeps a place free."""

    def __repr__(self) -> str:
        return "NULL"


NULL = _Null()


class Cell:
    """A variable that functions share."""

    __slots__ = ("value",)

    def __init__(self, value: Any = NULL) -> None:
        self.value = value


@dataclass(slots=True, eq=False)
class Function:
    """A function of the program, or of the prelude: quiet, its lines are no steps."""

    code: CodeType
    globals: dict[str, Any]
    quiet: bool = False
    inlined: bool = False
    """A comprehension, which 3.11 makes a function of: its lines are steps of the frame around it."""
    defaults: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    cells: tuple[Cell, ...] = ()


@dataclass(slots=True, eq=False)
class Bound:
    """A method of a builtin type, with its object."""

    owner: Any
    name: str


@dataclass(slots=True, frozen=True)
class Builtin:
    """A builtin function or type by its name."""

    name: str


class Frame:
    """A call that runs. place: number of the next instruction."""

    __slots__ = (
        *(
            "around",
            "body",
            "cells",
            "ended",
            "entered",
            "function",
            "globals",
            "keywords",
            "names",
            "number",
            "place",
        ),
        *("previous", "quiet", "stack"),
    )

    def __init__(self, function: Function, names: dict[str, Any], number: int, quiet: bool) -> None:
        self.function = function
        self.body = body(function.code)
        self.globals = function.globals
        self.names = names
        self.number = number
        self.quiet = quiet
        self.place = 0
        self.previous = 0
        self.stack: list[Any] = []
        self.keywords: tuple[str, ...] = ()
        self.cells: dict[str, Cell] = {}
        self.ended = False
        self.entered = "RESUME" not in self.body.operations
        self.around: Frame | None = None

    def locals(self) -> dict[str, Any]:
        """Variables with values, as a tracer sees them."""
        found = {} if self.around is None else self.around.locals()
        found |= {name: value for name, value in self.names.items() if name[0] != "."}
        for name, cell in self.cells.items():
            if cell.value is not NULL:
                found[name] = cell.value
        return found


@dataclass(slots=True, frozen=True)
class Body:
    """A code object, read. lines: of each instruction, None for none; caught: for each instruction the
    handler that its exceptions go to, as (instruction, depth of the stack, whether the place is pushed)."""

    instructions: tuple[dis.Instruction, ...]
    operations: tuple[str, ...]
    lines: tuple[int | None, ...]
    targets: tuple[int, ...]
    """Of jumps: the number of the instruction that they go to; -1 for others."""
    caught: tuple[tuple[int, int, bool] | None, ...]
    starts: tuple[bool, ...]
    """Whether a line event may fire before an instruction (3.12 and later ask where lines begin)."""

    def fires(self, place: int, before: int) -> bool:
        """Whether a line event fires at an instruction. before: number of the one that ran before it; -1: it
        is the first of a function."""
        line = self.lines[place]
        if line is None:
            return False
        return before < 0 or (self.starts[place] and (line != self.lines[before] or place < before))


@lru_cache(maxsize=4096)
def body(code: CodeType) -> Body:
    """The instructions of a code object."""
    found = [one for one in dis.get_instructions(code) if one.opname not in ("CACHE", "EXTENDED_ARG")]
    numbers = {one.offset: number for number, one in enumerate(found)}
    for one in dis.get_instructions(code):  # what an extended argument belongs to
        if one.opname == "EXTENDED_ARG":
            numbers[one.offset] = min(n for n, other in enumerate(found) if other.offset > one.offset)
    lines: dict[int, int | None] = {}
    for start, end, line in code.co_lines():
        for offset in range(start, end, 2):
            lines[offset] = line
    jumps = {*dis.hasjrel, *dis.hasjabs}
    handlers: list[tuple[int, int, bool] | None] = [None] * len(found)
    for entry in dis._parse_exception_table(code):  # type: ignore[attr-defined]
        for number, one in enumerate(found):
            if entry.start <= one.offset < entry.end:
                handlers[number] = (numbers[entry.target], entry.depth, entry.lasti)
    of = tuple([lines.get(one.offset) for one in found])
    targets = tuple([numbers[one.argval] if one.opcode in jumps else -1 for one in found])
    reached = {target for target in targets if target >= 0} | {one[0] for one in handlers if one}
    starts = tuple(
        [
            line is not None and (number in reached or number == 0 or of[number - 1] != line)
            for number, line in enumerate(of)
        ]
    )
    names = tuple([one.opname for one in found])
    return Body(tuple(found), names, of, targets, tuple(handlers), starts)


class Counting:
    """`range` in a loop: what it gives next is asked of the model, and whether there is more."""

    __slots__ = ("machine", "more", "next_value", "step", "stop")

    def __init__(self, machine: Any, start: int, stop: int, step: int) -> None:
        self.machine, self.next_value, self.stop, self.step = machine, start, stop, step
        self.more = "<" if step > 0 else ">"

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        value, machine = self.next_value, self.machine
        if not machine.arithmetic.binary(self.more, value, self.stop):
            raise StopIteration
        self.next_value = machine.arithmetic.binary("+", value, self.step)
        return value


VERSION = sys.version_info[:2]
