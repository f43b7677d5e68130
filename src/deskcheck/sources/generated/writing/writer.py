"""Writes functions line by line, and keeps track of the visible variables.

Before an assignment, a rule must call `ProgramWriter.fits` or `ProgramWriter.may_grow`, so that a variable's
interval is valid wherever the variable is visible. The statements and expressions are drawn from a `Grammar`,
whose rules are in the files of the levels.
"""

import math
import random
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from itertools import accumulate
from typing import Any, TypeVar

from deskcheck.sources.generated.writing.values import CannotWrite, Helper, Local, Operand
from deskcheck.sources.text.words import NAMES, WORDS

_Rule = TypeVar("_Rule", bound=Callable[..., Any])


class Rules:
    """The rules of a level, in tables: int, str, list, condition, statement, loop.

    A rule takes the writer, and for an expression also its depth. It returns an `Operand`, the text of a
    condition, or nothing if it writes a statement. It raises `CannotWrite` if it does not fit.
    """

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[int, float, Any]]] = {}

    def enter(self, table: str, level: int, weight: float) -> Callable[[_Rule], _Rule]:
        def enter(rule: _Rule) -> _Rule:
            self.rows.setdefault(table, []).append((level, weight, rule))
            return rule

        return enter


class Grammar:
    """All rules. A seed gives the same programs only as long as the rules and their order do not change.

    otherwise: writes a statement if no drawn rule fits.
    """

    def __init__(self, parts: Iterable[Rules], otherwise: Callable[["ProgramWriter"], None]) -> None:
        self.otherwise = otherwise
        self._rows: dict[str, list[tuple[int, float, Any]]] = {}
        self._choices: dict[tuple[str, int], tuple[list[float], list[tuple[int, Any]]]] = {}
        for part in parts:
            for table, rows in part.rows.items():
                self._rows.setdefault(table, []).extend(rows)

    def choices(self, table: str, level: int) -> tuple[list[float], list[tuple[int, Any]]]:
        """Cumulative weights and their rules. The rules of the level itself weigh more."""
        if (table, level) not in self._choices:
            rows = [row for row in self._rows[table] if row[0] <= level]
            favour = 1 if level == 1 else 4 if level < 5 else 2.5
            weights = [weight * (favour if row_level == level else 1) for row_level, weight, _ in rows]
            self._choices[table, level] = (
                list(accumulate(weights)),
                [(row_level, rule) for row_level, _, rule in rows],
            )
        return self._choices[table, level]


class ProgramWriter:
    """Writes the functions of one module, one after another."""

    LETTERS = "aaabbcdeeilnorstxy"

    def __init__(self, grammar: Grammar, rng: random.Random, level: int) -> None:
        self.grammar = grammar
        self.random = rng.random
        self.level = level
        self.used = {1}
        self.functions: list[Helper] = []
        self.global_names: set[str] = set()
        self.begin_function()

    def begin_function(self) -> None:
        self.lines: list[str] = []
        self.variables: list[Local] = []
        self.names: set[str] = set()
        self.indent = 1
        self.loops: list[int] = []
        self.jumps: list[tuple[str, ...]] = []
        self.finishing = False
        self.calling = False
        self.room = 0
        self.branches = 0
        self.cost = 1
        self.returned: Operand | None = None
        self.returns = "int"
        self.helper = False

    # -- drawing -----------------------------------------------------------------------------------

    def below(self, bound: int) -> int:
        return int(self.random() * bound)

    def between(self, low: int, high: int) -> int:
        return low + int(self.random() * (high - low + 1))

    def chance(self, share: float) -> bool:
        return self.random() < share

    def pick(self, choices: Any) -> Any:
        return choices[int(self.random() * len(choices))]

    def recent(self, choices: list[Local]) -> Local:
        """One of the variables; later ones are chosen more often."""
        count = len(choices)
        return choices[max(int(self.random() * count), int(self.random() * count))]

    def choose(self, choices: list[Local]) -> Local:
        """One of the variables; later ones are chosen more often. Raises CannotWrite for an empty list."""
        self.need(choices)
        return self.recent(choices)

    def need(self, condition: object) -> None:
        if not condition:
            raise CannotWrite

    def drawn(
        self, table: str, attempts: int, *depth: int, fits: Callable[[Any], bool] = lambda value: True
    ) -> Any:
        """The result of the first rule that can be written and fits, of `attempts` drawn from a table.

        Raises CannotWrite if none fits.
        """
        weights, rules = self.grammar.choices(table, self.level)
        for _ in range(attempts):
            level, rule = rules[bisect(weights, self.random() * weights[-1])]
            try:
                value = rule(self, *depth)
            except CannotWrite:
                continue
            if fits(value):
                self.used.add(level)
                return value
        raise CannotWrite

    def attempt(self, rule: Callable[["ProgramWriter"], object]) -> bool:
        """Try a rule. Return whether it could be written."""
        try:
            rule(self)
        except CannotWrite:
            return False
        return True

    # -- names and variables -----------------------------------------------------------------------

    def fresh(self, kind: str) -> str:
        names = NAMES[kind]
        for _ in range(20):
            name: str = self.pick(names)
            if name not in self.names and name not in self.global_names:
                self.names.add(name)
                return name
        number = 2
        name = self.pick(names)
        while f"{name}{number}" in self.names:
            number += 1
        self.names.add(f"{name}{number}")
        return f"{name}{number}"

    def need_room(self) -> None:
        """Raise CannotWrite, mostly, if another variable would make the state too long."""
        self.need(len(self.variables) < 5 or not self.chance(0.85))

    def of(self, kind: str, items: str = "") -> list[Local]:
        return [v for v in self.variables if v.kind == kind and (not items or v.items == items)]

    def assignable(self, kind: str, items: str = "") -> list[Local]:
        depth = len(self.loops)
        return [v for v in self.of(kind, items) if v.depth == depth and not v.counter]

    def growable(self, kind: str, items: str = "") -> list[Local]:
        """Containers and texts whose length may change here."""
        return [v for v in self.assignable(kind, items) if not v.locked]

    def indexed(self, kind: str, items: str = "") -> list[Local]:
        """Lists or texts that have an item, or a variable that is a valid index."""
        indexed = {v.indexes for v in self.of("int")}
        return [v for v in self.of(kind, items) if v.lo >= 1 or v.text in indexed]

    def index_in(self, container: Local) -> str:
        """A valid index for a list or text of any possible length."""
        indices = [
            v.text
            for v in self.of("int")
            if v.indexes == container.text or (v.lo >= 0 and v.hi < container.lo)
        ]
        if indices and (container.lo < 1 or self.chance(0.6)):
            return str(self.pick(indices))
        return str(self.pick((0, -1, self.below(container.lo))))

    def declare(self, name: str, value: Operand) -> Local:
        facts = {field.name: getattr(value, field.name) for field in fields(Operand)}
        facts |= {"text": name, "prec": 3}
        variable = Local(**facts, depth=len(self.loops), branch=self.branches)
        self.variables.append(variable)
        return variable

    def assign_new(self, kind: str, value: Operand) -> Local:
        """Assign a value to a new variable."""
        name = self.fresh(kind)
        self.write(f"{name} = {value.text}")
        return self.declare(name, value)

    def fits(self, variable: Local, value: Operand) -> bool:
        """Whether the value may be assigned. If so, the variable's interval is updated."""
        if variable.items and (
            value.items != variable.items
            or value.item_lo < variable.item_lo
            or value.item_hi > variable.item_hi
        ):
            return False
        if variable.looped and (value.lo < variable.base_lo or value.hi > variable.base_hi):
            return False
        if not variable.looped:
            self._widen(variable, value.lo, value.hi)
        variable.indexes = ""
        return True

    def may_grow(self, variable: Local, low: int, high: int, limit: int) -> bool:
        """Whether the variable may change by low..high here. If so, its interval is updated."""
        variable.indexes = ""
        if variable.looped:
            needed = max(-low, high, 0) * math.prod(self.loops[variable.since :])
            if needed > variable.growth or (low < 0 <= variable.lo):
                return False
            variable.growth -= needed
            return True
        new_low = variable.lo + low
        if variable.kind != "int":
            new_low = max(new_low, 0)
        if variable.hi + high > limit or new_low < -limit:
            return False
        self._widen(variable, new_low, variable.hi + high)
        return True

    def _widen(self, variable: Local, low: int, high: int) -> None:
        """Set the variable's interval to low..high. In a branch, the old interval remains included."""
        if self.branches > variable.branch:
            low, high = min(variable.lo, low), max(variable.hi, high)
        variable.lo, variable.hi = low, high

    # -- writing -----------------------------------------------------------------------------------

    def trips(self) -> int:
        return math.prod(self.loops)

    def write(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)
        self.cost += self.trips()
        self.room -= 1

    @contextmanager
    def under(self, header: str) -> Iterator[None]:
        """Write a header. Lines that are written in the block are indented under it."""
        self.write(header)
        self.indent += 1
        yield
        self.indent -= 1

    def write_under(self, header: str, line: str) -> None:
        with self.under(header):
            self.write(line)

    def block(self, longest: int, *, branch: bool = False) -> None:
        """Write an indented block of 1 to `longest` statements. Its new variables are not visible after
        it."""
        visible = len(self.variables)
        self.indent += 1
        self.branches += branch
        length = len(self.lines)
        for k in range(self.between(1, longest)):
            if k == 0 or self.room > 0:
                self.statement()
        if len(self.lines) == length:
            self.write("pass")
        self.branches -= branch
        self.indent -= 1
        del self.variables[visible:]

    def branch(self, header: str, longest: int = 2) -> None:
        self.write(header)
        self.block(longest, branch=True)

    def statement(self) -> None:
        if not self.attempt(lambda w: w.drawn("statement", 6)):
            self.grammar.otherwise(self)

    # -- expressions -------------------------------------------------------------------------------

    def number(self, depth: int | None = None) -> Operand:
        """An expression of type int."""
        if depth is None:
            depth = 0 if self.chance(0.08) else 1 if self.chance(0.75) else 2
        try:
            # An expression with only one possible value is like a literal, so it is mostly rejected.
            attempts = 5 if depth > 0 else 0
            value: Operand = self.drawn(
                "int", attempts, depth - 1, fits=lambda v: v.lo < v.hi or self.chance(0.1)
            )
        except CannotWrite:
            return self.atom()
        return value

    def atom(self) -> Operand:
        choices = self.of("int")
        if choices and self.chance(0.8):
            return self.recent(choices)
        return self.constant()

    def variable(self) -> Operand:
        choices = self.of("int")
        return self.recent(choices) if choices else self.constant()

    def constant(self) -> Operand:
        draw = self.random()
        low, high = (
            (0, 9) if draw < 0.6 else (10, 20) if draw < 0.8 else (10, 99) if draw < 0.95 else (100, 999)
        )
        return self.literal(low, high)

    def literal(self, low: int, high: int) -> Operand:
        number = self.between(low, high)
        return Operand(str(number), "int", number, number, 3 if number >= 0 else 1)

    def number_in(self, low: int, high: int) -> Operand:
        """An expression of type int between the bounds."""
        value = self.variable()
        for _ in range(3):
            if low <= value.lo and value.hi <= high:
                return value
            value = self.number(self.below(2))
        if low <= 0 < high and value.lo != value.hi and self.chance(0.8):
            modulus = min(high + 1, self.pick((2, 3, 4, 5, 7, 8, 10, 10, 20, 100)))
            return Operand(f"{value.at(2)} % {modulus}", "int", 0, modulus - 1, 2)
        return self.literal(max(low, 0) if high >= 0 else low, min(high, max(low, 0) + 20))

    def word(self) -> str:
        """A short text, without quotes."""
        if self.chance(0.35):
            return "".join(self.pick("abcdexyz") for _ in range(self.between(1, 4)))
        return str(self.pick(WORDS))

    def letter(self) -> str:
        return str(self.pick(self.LETTERS))

    def string(self, depth: int | None = None) -> Operand:
        """An expression of type str."""
        if depth is None:
            depth = 0 if self.chance(0.15) else 1 if self.chance(0.85) else 2
        try:
            value: Operand = self.drawn("str", 5 if depth > 0 else 0, depth - 1)
        except CannotWrite:
            return self._plain_string()
        return value

    def _plain_string(self) -> Operand:
        choices = self.of("str")
        if choices and self.chance(0.75):
            return self.recent(choices)
        word = self.word()
        return Operand(f'"{word}"', "str", len(word), len(word))

    def list_display(self, low: int = 1, high: int = 5) -> Operand:
        length = self.between(low, high)
        items = [self.literal(0, 9) if self.chance(0.7) else self.small() for _ in range(length)]
        smallest, largest = min((v.lo for v in items), default=0), max((v.hi for v in items), default=0)
        return Operand(
            f"[{', '.join(v.text for v in items)}]",
            "list",
            length,
            length,
            3,
            "int",
            min(0, smallest),
            max(99, largest),
        )

    def small(self) -> Operand:
        """A number of up to three digits."""
        choices = [v for v in self.of("int") if v.lo >= -999 and v.hi <= 999]
        return self.recent(choices) if choices and self.chance(0.7) else self.constant()

    def condition(self) -> str:
        try:
            return str(self.drawn("condition", 5))
        except CannotWrite:
            return f"{self.variable().at(1)} {self.pick(('>', '<'))} {self.below(10)}"
