"""Writes functions, line by line, and keeps what is known of the variables that can be seen.

Whoever assigns asks `ProgramWriter.fits` or `ProgramWriter.may_grow` first, so that a variable's interval
holds wherever it can be seen. What there is to write is no concern of this file: it is drawn from a
`Grammar`, whose tables the files of the levels fill.
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
    """What a level brings, by what it is drawn for: int, str, list, condition, statement, loop.

    A rule takes the writer, and for an expression how deep it may go. It returns an `Operand`, the text of a
    condition, or nothing after it wrote a statement; it raises `CannotWrite` where it does not fit.
    """

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[int, float, Any]]] = {}

    def enter(self, table: str, level: int, weight: float) -> Callable[[_Rule], _Rule]:
        def enter(rule: _Rule) -> _Rule:
            self.rows.setdefault(table, []).append((level, weight, rule))
            return rule

        return enter


class Grammar:
    """All rules. A seed gives the same programs only while rules and their order stay.

    otherwise: writes a statement anywhere, where none that was drawn could be written.
    """

    def __init__(self, parts: Iterable[Rules], otherwise: Callable[["ProgramWriter"], None]) -> None:
        self.otherwise = otherwise
        self._rows: dict[str, list[tuple[int, float, Any]]] = {}
        self._choices: dict[tuple[str, int], tuple[list[float], list[tuple[int, Any]]]] = {}
        for part in parts:
            for table, rows in part.rows.items():
                self._rows.setdefault(table, []).extend(rows)

    def choices(self, table: str, level: int) -> tuple[list[float], list[tuple[int, Any]]]:
        """Cumulative weights and their rules; what a level brings weighs more at that level."""
        if (table, level) not in self._choices:
            rows = [row for row in self._rows[table] if row[0] <= level]
            favour = 1 if level == 1 else 4 if level < 5 else 2.5
            weights = [weight * (favour if own == level else 1) for own, weight, _ in rows]
            self._choices[table, level] = (
                list(accumulate(weights)),
                [(own, rule) for own, _, rule in rows],
            )
        return self._choices[table, level]


class ProgramWriter:
    """Writes the functions of one module, one after another."""

    LETTERS = "aaabbcdeeilnorstxy"

    def __init__(self, grammar: Grammar, numbers: random.Random, level: int) -> None:
        self.grammar = grammar
        self.random = numbers.random
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

    def below(self, n: int) -> int:
        return int(self.random() * n)

    def between(self, low: int, high: int) -> int:
        return low + int(self.random() * (high - low + 1))

    def chance(self, share: float) -> bool:
        return self.random() < share

    def pick(self, choices: Any) -> Any:
        return choices[int(self.random() * len(choices))]

    def recent(self, choices: list[Local]) -> Local:
        """One of them, the later ones more often."""
        n = len(choices)
        return choices[max(int(self.random() * n), int(self.random() * n))]

    def choose(self, choices: list[Local]) -> Local:
        """One of them, the later ones more often. Raises CannotWrite if there are none."""
        self.need(choices)
        return self.recent(choices)

    def need(self, condition: object) -> None:
        if not condition:
            raise CannotWrite

    def drawn(
        self, table: str, attempts: int, *depth: int, fits: Callable[[Any], bool] = lambda value: True
    ) -> Any:
        """What the first rule that can be written and fits makes, of so many that are drawn from a table.

        Raises CannotWrite if there is none.
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
        """Whether the rule could be written."""
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
        """Raises CannotWrite where there are so many variables that another makes the state long."""
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
        """Lists or texts of which an item can be had."""
        indexed = {v.indexes for v in self.of("int")}
        return [v for v in self.of(kind, items) if v.lo >= 1 or v.text in indexed]

    def index_in(self, a: Local) -> str:
        """An index of a list or text that is inside, whatever its length turns out to be."""
        indices = [v.text for v in self.of("int") if v.indexes == a.text or (v.lo >= 0 and v.hi < a.lo)]
        if indices and (a.lo < 1 or self.chance(0.6)):
            return str(self.pick(indices))
        return str(self.pick((0, -1, self.below(a.lo))))

    def declare(self, name: str, value: Operand) -> Local:
        facts = {field.name: getattr(value, field.name) for field in fields(Operand)}
        facts |= {"text": name, "prec": 3}
        variable = Local(**facts, depth=len(self.loops), branch=self.branches)
        self.variables.append(variable)
        return variable

    def assign_new(self, kind: str, value: Operand) -> Local:
        """A new variable that is assigned the value."""
        name = self.fresh(kind)
        self.write(f"{name} = {value.text}")
        return self.declare(name, value)

    def fits(self, variable: Local, value: Operand) -> bool:
        """Whether the value may be assigned; keeps what is known of the variable true."""
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

    def may_grow(self, variable: Local, low: int, high: int, most: int) -> bool:
        """Whether the variable may change by low..high here; keeps what is known of it true."""
        variable.indexes = ""
        if variable.looped:
            needed = max(-low, high, 0) * math.prod(self.loops[variable.since :])
            if needed > variable.growth or (low < 0 <= variable.lo):
                return False
            variable.growth -= needed
            return True
        least = variable.lo + low
        if variable.kind != "int":
            least = max(least, 0)
        if variable.hi + high > most or least < -most:
            return False
        self._widen(variable, least, variable.hi + high)
        return True

    def _widen(self, variable: Local, low: int, high: int) -> None:
        """The variable is in low..high from here on; in a branch, it may also be what it was."""
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
        """Writes a header; lines that are written meanwhile belong to it."""
        self.write(header)
        self.indent += 1
        yield
        self.indent -= 1

    def write_under(self, header: str, line: str) -> None:
        with self.under(header):
            self.write(line)

    def block(self, most: int, *, branch: bool = False) -> None:
        """An indented block of 1 to `most` statements; what is declared in it cannot be seen after it."""
        visible = len(self.variables)
        self.indent += 1
        self.branches += branch
        length = len(self.lines)
        for k in range(self.between(1, most)):
            if k == 0 or self.room > 0:
                self.statement()
        if len(self.lines) == length:
            self.write("pass")
        self.branches -= branch
        self.indent -= 1
        del self.variables[visible:]

    def branch(self, header: str, most: int = 2) -> None:
        self.write(header)
        self.block(most, branch=True)

    def statement(self) -> None:
        if not self.attempt(lambda w: w.drawn("statement", 6)):
            self.grammar.otherwise(self)

    # -- expressions -------------------------------------------------------------------------------

    def number(self, depth: int | None = None) -> Operand:
        """An expression of type int."""
        if depth is None:
            depth = 0 if self.chance(0.08) else 1 if self.chance(0.75) else 2
        try:
            # Where only one value is possible, it is no more than a literal.
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
        n = self.between(low, high)
        return Operand(str(n), "int", n, n, 3 if n >= 0 else 1)

    def number_in(self, low: int, high: int) -> Operand:
        """An int between the bounds."""
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
        """A short text, as it stands between quotes."""
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
        n = self.between(low, high)
        items = [self.literal(0, 9) if self.chance(0.7) else self.small() for _ in range(n)]
        least, most = min((v.lo for v in items), default=0), max((v.hi for v in items), default=0)
        return Operand(
            f"[{', '.join(v.text for v in items)}]", "list", n, n, 3, "int", min(0, least), max(99, most)
        )

    def small(self) -> Operand:
        """A number of at most three digits."""
        choices = [v for v in self.of("int") if v.lo >= -999 and v.hi <= 999]
        return self.recent(choices) if choices and self.chance(0.7) else self.constant()

    def condition(self) -> str:
        try:
            return str(self.drawn("condition", 5))
        except CannotWrite:
            return f"{self.variable().at(1)} {self.pick(('>', '<'))} {self.below(10)}"
