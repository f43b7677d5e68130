"""The parts of a machine's run: frames, functions, generators, its own iterators and errors."""

import dis
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType
from typing import Any, TypeVar

VERSION = sys.version_info[:2]
GENERATOR = 0x20
ASYNC = 0x80 | 0x200
FIRST = -1
"""Before the first instruction of a function."""
CALLED = -2
"""A function of the program has returned, and the interpreter (3.12) does not know the line before."""
STAR, STAR_STAR = 0x04, 0x08


class OutsideLanguage(Exception):
    """The program does something that is not in the declared language of the level."""


class ProgramRaised(Exception):
    """The program raised an exception: `error`, a real one."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


class StepsSpent(Exception):
    """The run has made all the steps that it was allowed."""


_Class = TypeVar("_Class", bound=type)


def called(name: str) -> Callable[[_Class], _Class]:
    """Gives a class of the machine the name of the kind that it stands for, which texts of Python's tell."""

    def named(cls: _Class) -> _Class:
        cls.__name__ = cls.__qualname__ = name
        cls.__module__ = "builtins"
        return cls

    return named


class _Null:
    """Where bytecode keeps a place free."""

    def __repr__(self) -> str:
        return "NULL"


NULL = _Null()


class Cell:
    """A variable that functions share: a cell of CPython, not one of a notebook."""

    __slots__ = ("value",)

    def __init__(self, value: Any = NULL) -> None:
        self.value = value


@called("function")
@dataclass(slots=True, eq=False)
class Function:
    """A function of the program or the prelude. quiet: its lines are not steps."""

    code: CodeType
    globals: dict[str, Any]
    quiet: bool = False
    inlined: bool = False
    """A comprehension, which 3.11 makes a function of: its lines are steps of the frame around it."""
    defaults: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    cells: tuple[Cell, ...] = ()


@called("builtin_function_or_method")
@dataclass(slots=True, eq=False)
class Bound:
    """A method of a builtin type, with its object."""

    owner: Any
    name: str


@called("builtin_function_or_method")
@dataclass(slots=True, frozen=True)
class Builtin:
    """A builtin function by its name."""

    name: str


@called("type")
class BuiltinType(Builtin):
    """A builtin type."""

    __slots__ = ()


class Frame:
    """A running call, like CPython's frame, with a stack and variables that change.

    (`notation.Frame` is the description of a frame in a text.) place: number of the next instruction.
    """

    __slots__ = (
        *(
            "after_comprehension",
            "around",
            "body",
            "cells",
            "ended",
            "entered",
            "function",
            "globals",
            "keywords",
            "last_event",
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
        """The frame around a comprehension, which 3.11 makes a function of."""
        self.after_comprehension = False
        self.last_event = (0, -1)
        """Line and place; -1 if a comprehension with a separate frame reported it."""

    def locals(self) -> dict[str, Any]:
        """Variables with values, as a tracer sees them."""
        values = {} if self.around is None else self.around.locals()
        values |= {name: value for name, value in self.names.items() if name[0] != "."}
        for name, cell in self.cells.items():
            if cell.value is not NULL:
                values[name] = cell.value
        return values


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
    inside: tuple[bool, ...]
    """Whether an instruction belongs to a comprehension (list, set, dict)."""
    watched: tuple[bool, ...]
    """Whether an instruction stands inside of a `try` of the program, its handlers included."""

    def fires(self, place: int, before: int) -> bool:
        """Whether a line event fires at an instruction. before: number of the one that ran before it, or
        FIRST, or CALLED."""
        line = self.lines[place]
        if line is None:
            return False
        if self.inside[place]:  # a further item is a line event, and nothing else
            return self.operations[place] == "FOR_ITER" and place < before
        if before == FIRST:
            return True
        if not self.starts[place] or before == CALLED:
            return self.starts[place]
        # The way back in a `yield from` is no new line.
        return line != self.lines[before] or (place < before and self.operations[place] != "SEND")


@lru_cache(maxsize=4096)
def body(code: CodeType) -> Body:
    """The instructions of a code object."""
    instructions: list[dis.Instruction] = []
    numbers: dict[int, int] = {}
    for instruction in dis.get_instructions(code):
        # Of an extended argument: the instruction that it belongs to.
        numbers[instruction.offset] = len(instructions)
        if instruction.opname not in ("CACHE", "EXTENDED_ARG"):
            instructions.append(instruction)
    lines: dict[int, int | None] = {}
    for start, end, line in code.co_lines():
        for offset in range(start, end, 2):
            lines[offset] = line
    jumps = {*dis.hasjrel, *dis.hasjabs}
    handlers: list[tuple[int, int, bool] | None] = [None] * len(instructions)
    for entry in dis._parse_exception_table(code):  # type: ignore[attr-defined]
        for number, instruction in enumerate(instructions):
            if entry.start <= instruction.offset < entry.end:
                handlers[number] = (numbers[entry.target], entry.depth, entry.lasti)
    of = tuple([lines.get(instruction.offset) for instruction in instructions])
    targets = tuple(
        [numbers[instruction.argval] if instruction.opcode in jumps else -1 for instruction in instructions]
    )
    reached = {target for target in targets if target >= 0} | {handler[0] for handler in handlers if handler}
    starts = tuple(
        [
            line is not None and (number in reached or number == 0 or of[number - 1] != line)
            for number, line in enumerate(of)
        ]
    )
    names = tuple([instruction.opname for instruction in instructions])
    watched = tuple([handler is not None and names[handler[0]] not in _OF_GENERATORS for handler in handlers])
    inside = tuple([_in_comprehension(code, names, handlers, number) for number in range(len(instructions))])
    return Body(tuple(instructions), names, of, targets, tuple(handlers), starts, inside, watched)


def _in_comprehension(
    code: CodeType, names: tuple[str, ...], handlers: list[tuple[int, int, bool] | None], number: int
) -> bool:
    """From 3.12 on (PEP 709) it is a range whose handler puts variables back: it begins with SWAP."""
    if VERSION < (3, 12):
        return code.co_name in COMPREHENSIONS
    handler = handlers[number]
    while handler is not None and handler[0] > number:
        if names[handler[0]] == "SWAP":
            return True
        number, handler = handler[0], handlers[handler[0]]
    return False


COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")
"""Names of the functions that 3.11 makes of them."""


_OF_GENERATORS = ("CALL_INTRINSIC_1", "CLEANUP_THROW")
"""What handlers begin with that no `try` has made: they turn a StopIteration into a RuntimeError."""
