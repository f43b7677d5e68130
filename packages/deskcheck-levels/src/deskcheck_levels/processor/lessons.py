"""Lessons of the level `processor`: windows, each with the word that is right. They are computed, not
recorded: single random operations, and the operations that programs of a generator make.

Which windows there are does not depend on either (`windows`); how often each is in the lessons does.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator

from deskcheck.recording import Program
from deskcheck_levels.machine.frames import OutsideLanguage, ProgramRaised, StepsSpent
from deskcheck_levels.machine.machine import Machine
from deskcheck_levels.paper import working as paper
from deskcheck_levels.paper.arithmetic import Arithmetic
from deskcheck_levels.paper.cells import Window
from deskcheck_levels.paper.windows import all_windows

LONGEST = 12
"""Digits of random operands."""
NEGATIVE = 0.2
OPERATIONS_DRAWN = 20_000
CHECKED = 10_000
"""Number of operations for the comparison of lessons with Python before a training."""
OPERATIONS = tuple(paper.METHODS)


def random_operation(rng: random.Random) -> tuple[str, int, int]:
    """An operation with operands: drawn evenly by operation and by length, a fifth of them negative, a third
    of a pattern (nines, a one with noughts, noughts and nines, the same twice, one apart)."""
    op = rng.choice(OPERATIONS)
    a = _operand(rng)
    kind = rng.random()
    if kind < 0.1:
        b = a
    elif kind < 0.2:
        b = a + rng.choice((-1, 1))
    else:
        b = _operand(rng)
    return op, a, b


def _operand(rng: random.Random) -> int:
    length = rng.randint(1, LONGEST)
    kind = rng.random()
    if kind < 0.05:
        value = int(10**length - 1)
    elif kind < 0.1:
        value = int(10 ** (length - 1))
    elif kind < 0.15:
        value = int("".join(rng.choice("09") for _ in range(length)))
    else:
        value = rng.randrange(10**length)
    return -value if rng.random() < NEGATIVE else value


class Counted:
    """Answers windows with what is right, and counts them."""

    def __init__(self) -> None:
        self.counts: Counter[Window] = Counter()
        self._right = all_windows()

    def __call__(self, window: Window) -> int:
        self.counts[window] += 1
        return self._right[window]


def random_lessons(operations: int, seed: int) -> Counter[Window]:
    """The windows of random operations, with the number of their occurrences."""
    rng = random.Random(seed)
    counted = Counted()
    arithmetic = Arithmetic(counted, remember=False)
    for _ in range(operations):
        op, a, b = random_operation(rng)
        try:
            arithmetic.binary(op, a, b)
        except paper.DivisionByNought:
            continue
    return counted.counts


def lessons_of(programs: Iterable[Program], steps: int = 2000) -> tuple[Counter[Window], int]:
    """The windows of programs, from up to `steps` steps of each, and the number of programs.

    Programs outside of the declared language are left out.
    """
    counted = Counted()
    arithmetic = Arithmetic(counted, remember=False)
    taken = 0
    for program in programs:
        try:
            Machine(arithmetic, steps=steps).call_program(
                program.code, program.entry or "", program.arguments or "()"
            )
        except OutsideLanguage:
            continue
        except (ProgramRaised, StepsSpent):
            pass
        taken += 1
    return counted.counts, taken


def spot_check(operations: int, seed: int) -> Iterator[tuple[str, int, int, object, object]]:
    """The random operations for which the lessons and Python differ, with both results."""
    rng = random.Random(seed)
    right = all_windows()
    arithmetic = Arithmetic(right.__getitem__, remember=False)
    for _ in range(operations):
        op, a, b = random_operation(rng)
        told: object
        try:
            told = arithmetic.binary(op, a, b)
        except paper.DivisionByNought:
            told = "ZeroDivisionError"
        try:
            true: object = eval(f"({a}) {op} ({b})", {"__builtins__": {}})
        except ZeroDivisionError:
            true = "ZeroDivisionError"
        if told is not true and (told != true or type(told) is not type(true)):
            yield op, a, b, told, true
