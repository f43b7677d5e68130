"""Lessons of the level `alone`: steps of runs of programs, computed by the rules; no recording is needed.

Some of the states have other numbers than those of the run, so that a model sees operations on all kinds of
numbers, and branches that no run takes. Some of the programs are drawn by their operators and words, so that
a model sees rare ones. Between them are single operations, whose short lessons teach tables of digits
cheaply.
"""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from deskcheck.errors import InputError
from deskcheck.recording import Program
from deskcheck.sources import programs
from deskcheck_levels.alone.lesson import Writer
from deskcheck_levels.alone.text import AloneProgram, AloneState, read_program, state_words
from deskcheck_levels.alone.words import NAMES, NUMBER
from deskcheck_levels.alone.working import Working
from deskcheck_levels.machine.frames import OutsideLanguage
from deskcheck_levels.machine.machine import read_arguments
from deskcheck_levels.reader.text import COMPARISONS

Step: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""Words of a state, of the answer."""
Steps: TypeAlias = tuple[tuple[int, ...], list[Step]]
"""Words of a program, and steps of it."""
LONGEST = 360
"""Limit for the words of a state with its answer. Longer lessons are left out."""
OPERATIONS = 0.3
"""Share of the lessons that are single operations."""
NO_PROGRAM = ("L1", "I0", "end")
"""What these are asked of."""
_EACH, _MOST, _OTHER, _BY_PART = 8, 80, 0.3, 0.4
"""Steps of a program that stand together; events of a run that are looked at; share of runs whose numbers are
replaced; share that is drawn by what they have."""
_PARTS = re.compile(
    r"\*\*|//|<<|>>|[-+*/%&|^~]|\b(?:min|max|abs|divmod|int|not|and|or|else|break|continue)\b"
)
"""Operators and words by which programs are drawn."""


def first_state(program: AloneProgram, arguments: str) -> AloneState:
    """The state at the call. Raises OutsideLanguage if the arguments are not literals that fit."""
    try:
        values, named = read_arguments(arguments)
    except (SyntaxError, ValueError):
        raise OutsideLanguage("arguments that cannot be read") from None
    function = program.function
    if named or len(values) != len(function.parameters):
        raise OutsideLanguage("keyword arguments, or a wrong number of arguments")
    names = dict(zip(function.parameters, values, strict=True))
    return AloneState("call", function.lines[0].number, names)


def run_states(writer: Writer, program: AloneProgram, state: AloneState, limit: int) -> Iterator[AloneState]:
    """The states of a run that a step begins with. Ends where the language does."""
    for _ in range(limit):
        yield state
        try:
            _, state = writer.step(program, state)
        except OutsideLanguage:
            return
        if state.event == "return":
            return


def mixed_names(program: AloneProgram, rng: random.Random) -> AloneProgram:
    """The program with other words for its names, so that each word is taught."""
    words = rng.sample(range(NAMES), len(program.names))
    return replace(program, names={name: f"N{word}" for name, word in zip(program.names, words, strict=True)})


def drawn_number(rng: random.Random) -> int:
    """A whole number of one to four digits, many of them small, or of a kind that carries."""
    size = rng.choice((1, 1, 1, 2, 2, 2, 3, 3, 4))
    kind = rng.random()
    if kind < 0.1:
        number = 10 ** (size - 1)
    elif kind < 0.2:
        number = 10**size - 1
    elif kind < 0.3:
        number = int("".join([rng.choice("0189") for _ in range(size)]))
    else:
        number = rng.randrange(10**size)
    return -number if rng.random() < 0.2 else number


def _other_numbers(state: AloneState, rng: random.Random) -> AloneState:
    names = {
        name: drawn_number(rng) if type(value) is int and rng.random() < 0.6 else value
        for name, value in state.names.items()
    }
    integers = [value for value in names.values() if type(value) is int]
    for name, value in names.items():  # sometimes two are equal, or one apart
        if type(value) is int and rng.random() < 0.1:
            names[name] = rng.choice(integers) + rng.choice((-1, 0, 0, 1))
    return replace(state, names=names)


class Lessons:
    """Draws steps of runs of programs."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self.programs = programs
        self.writer = Writer()
        self.having: dict[str, list[Program]] = {}
        """What programs have -> those that have it."""
        for program in programs:
            for part in sorted(set(_PARTS.findall(program.code))):
                self.having.setdefault(part, []).append(program)

    def drawn(self, seed: object, operations: float = OPERATIONS) -> Iterator[Steps]:
        """Steps of one program at a time, without end; or single operations, such a share of the times."""
        chance, parts = random.Random(str(seed)), list(self.having)
        while True:
            if chance.random() < operations:
                drawn = [operation_lesson(self.writer.working, chance) for _ in range(2 * _EACH)]
                yield numbers(NO_PROGRAM), [lesson for lesson in drawn if lesson is not None]
                continue
            part = chance.choice(parts) if parts and chance.random() < _BY_PART else None
            among = self.programs if part is None else self.having[part]
            steps = self._of(chance.choice(among), part, chance)
            if steps is not None:
                yield steps

    def _of(self, source: Program, part: str | None, rng: random.Random) -> Steps | None:
        """Some steps of a run; None if no step can be taught. part: a word that half of them must have."""
        try:
            program = mixed_names(read_program(source.code), rng)
            state = first_state(program, source.arguments or "()")
        except OutsideLanguage:
            return None
        states = list(run_states(self.writer, program, state, _MOST))
        lines = source.code.split("\n")
        having = [
            state_drawn for state_drawn in states if part is not None and part in lines[state_drawn.line - 1]
        ]
        chosen = rng.sample(having, min(_EACH // 2, len(having)))
        others = [state_drawn for state_drawn in states if state_drawn not in chosen]
        states = [*chosen, *rng.sample(others, min(_EACH - len(chosen), len(others)))]
        if rng.random() < _OTHER:
            states = [_other_numbers(state_drawn, rng) for state_drawn in states]
        steps = [
            step
            for state_drawn in states
            if (step := lesson_of(self.writer, program, state_drawn)) is not None
        ]
        return (numbers(program.words()), steps) if steps else None


def lesson_of(writer: Writer, program: AloneProgram, state: AloneState) -> Step | None:
    """A state with its answer as numbers; None if the answer is missing or too long."""
    try:
        question = state_words(program, state)
        answer, _ = writer.step(program, state)
    except OutsideLanguage:
        return None
    return (numbers(question), numbers(answer)) if len(question) + len(answer) <= LONGEST else None


_OFTEN = ("+", "-", "*", "//", "%") * 4
_SMALL = frozenset(("**", "<<", ">>"))


def operation_lesson(working: Working, rng: random.Random) -> Step | None:
    """A single operation with its operands; None if it is outside of the language, or too long."""
    op = rng.choice((*_OFTEN, *COMPARISONS, "**", "&", "|", "^", "<<", ">>", "/"))
    a, b = drawn_number(rng), drawn_number(rng)
    kind = rng.random()
    if op in _SMALL or (op in "&|^" and kind < 0.6):
        b = rng.randrange(1, 9)
    elif op in ("//", "%", "/") and kind < 0.7:
        b = rng.choice((2, 3, 4, 5, 6, 7, 8, 9, 10, 10, rng.randrange(2, 100), -rng.randrange(1, 20)))
    elif kind < 0.15:
        b = a + rng.choice((-10, -1, 0, 0, 0, 1, 10))
    working.words = []
    try:
        working.binary(op, a, b, ("V0", "V1"))
    except OutsideLanguage:
        return None
    begin = working.words.index(":") + 1
    question, answer = ("state", "ask", *working.words[:begin]), (*working.words[begin:], "stop")
    return (numbers(question), numbers(answer)) if len(question) + len(answer) <= LONGEST else None


def numbers(words: Iterable[str]) -> tuple[int, ...]:
    return tuple([NUMBER[word] for word in words])


def programs_of(source: str, *, any_licence: bool = False) -> list[Program]:
    """The programs of a source that may be taught. Raises InputError if none may be taught."""
    allowed = [program for program in programs(source) if program.train_ok or any_licence]
    if not allowed:
        raise InputError(
            f"{source}: has no program that is cleared for training (train_ok). --any-licence also uses "
            f"those that are not cleared."
        )
    return allowed
