"""Writes functions, line by line, and keeps what is known of the variables that can be seen.

Whoever assigns asks `ProgramWriter.fits` or `ProgramWriter.may_grow` first, so that a variable's interval
holds wherever it can be seen. What there is to write is no concern of this file: it is drawn from a
`Grammar`, whose tables the files of the levels fill.
"""

import random
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, TypeVar

from deskcheck.sources.generated.writing.values import Helper, Local, Operand
from deskcheck.sources.text.words import NAMES, WORDS

Expression = Callable[["ProgramWriter", int], "Operand | None"]
"""Told how deep it may go. None: it cannot be written here; None and False say so of the others too."""
Condition = Callable[["ProgramWriter"], "str | None"]
Statement = Callable[["ProgramWriter"], bool]
_F = TypeVar("_F")
Table = list[tuple[int, float, _F]]
"""Rows: a level, a weight, and what writes something that this level brings."""


def entered(table: Table[_F], level: int, weight: float) -> Callable[[_F], _F]:
    """Puts the function under it into a table."""

    def enter(function: _F) -> _F:
        table.append((level, weight, function))
        return function

    return enter


@dataclass(frozen=True, eq=False, slots=True)
class Grammar:
    """All that can be written. A seed gives the same programs only while rows and their order stay.

    tables: by what they are drawn for: int, str, list, condition, statement, loop. otherwise: writes a
    statement anywhere, where none that was drawn could be written.
    """

    tables: Mapping[str, Sequence[tuple[int, float, Any]]]
    otherwise: Callable[["ProgramWriter"], None]


@cache
def _choices(grammar: Grammar, table: str, level: int) -> tuple[list[float], list[tuple[int, Any]]]:
    """Cumulative weights and what they belong to; what a level brings weighs more at that level."""
    known = [row for row in grammar.tables[table] if row[0] <= level]
    favour = 1 if level == 1 else 4 if level < 5 else 2.5
    weights = [weight * (favour if own == level else 1) for own, weight, _ in known]
    return list(accumulate(weights)), [(own, function) for own, _, function in known]


class ProgramWriter:
    """Writes the functions of one module, one after another."""

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

    def pick(self, known: Any) -> Any:
        return known[int(self.random() * len(known))]

    def recent(self, known: list[Local]) -> Local:
        """One of them, the later ones more often."""
        n = len(known)
        return known[max(int(self.random() * n), int(self.random() * n))]

    def draw(self, table: str) -> tuple[int, Any]:
        weights, known = _choices(self.grammar, table, self.level)
        return known[bisect(weights, self.random() * weights[-1])]

    # -- names and variables -----------------------------------------------------------------------

    def fresh(self, kind: str) -> str:
        known = NAMES[kind]
        for _ in range(20):
            name: str = self.pick(known)
            if name not in self.names and name not in self.global_names:
                self.names.add(name)
                return name
        number = 2
        name = self.pick(known)
        while f"{name}{number}" in self.names:
            number += 1
        self.names.add(f"{name}{number}")
        return f"{name}{number}"

    def crowded(self) -> bool:
        """Whether there are so many variables that another makes the state long."""
        return len(self.variables) >= 5 and self.chance(0.85)

    def of(self, kind: str, items: str = "") -> list[Local]:
        return [v for v in self.variables if v.kind == kind and (not items or v.items == items)]

    def assignable(self, kind: str, items: str = "") -> list[Local]:
        depth = len(self.loops)
        return [v for v in self.of(kind, items) if v.depth == depth and not v.counter]

    def growable(self, kind: str, items: str = "") -> list[Local]:
        """Containers and texts whose length may change here."""
        return [v for v in self.assignable(kind, items) if not v.locked]

    def declare(self, name: str, value: Operand) -> Local:
        variable = Local(
            text=name,
            kind=value.kind,
            lo=value.lo,
            hi=value.hi,
            items=value.items,
            item_lo=value.item_lo,
            item_hi=value.item_hi,
            keys=value.keys,
            indexes=value.indexes,
            depth=len(self.loops),
            branch=self.branches,
        )
        self.variables.append(variable)
        return variable

    def fits(self, variable: Local, value: Operand) -> bool:
        """Whether the value may be assigned; keeps what is known of the variable true."""
        if variable.items and (
            value.items != variable.items
            or value.item_lo < variable.item_lo
            or value.item_hi > variable.item_hi
        ):
            return False
        if variable.looped:
            if value.lo < variable.base_lo or value.hi > variable.base_hi:
                return False
            variable.indexes = ""
            return True
        variable.indexes = ""
        if self.branches > variable.branch:
            variable.lo, variable.hi = min(variable.lo, value.lo), max(variable.hi, value.hi)
        else:
            variable.lo, variable.hi = value.lo, value.hi
        return True

    def may_grow(self, variable: Local, low: int, high: int, most: int) -> bool:
        """Whether the variable may change by low..high here; keeps what is known of it true."""
        variable.indexes = ""
        if variable.looped:
            trips = 1
            for count in self.loops[variable.since :]:
                trips *= count
            needed = max(-low, high, 0) * trips
            if needed > variable.growth or (low < 0 <= variable.lo):
                return False
            variable.growth -= needed
            return True
        least = variable.lo + low
        if variable.kind != "int":
            least = max(least, 0)
        if variable.hi + high > most or least < -most:
            return False
        if self.branches > variable.branch:
            variable.lo, variable.hi = min(variable.lo, least), max(variable.hi, variable.hi + high)
        else:
            variable.lo, variable.hi = least, variable.hi + high
        return True

    # -- writing -----------------------------------------------------------------------------------

    def trips(self) -> int:
        product = 1
        for count in self.loops:
            product *= count
        return product

    def write(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)
        self.cost += self.trips()
        self.room -= 1

    def block(self, most: int, *, branch: bool = False) -> None:
        """An indented block of 1 to `most` statements; what is declared in it cannot be seen after it."""
        seen = len(self.variables)
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
        del self.variables[seen:]

    def branch(self, most: int = 2) -> None:
        self.block(most, branch=True)

    def statement(self) -> None:
        for _ in range(6):
            own, write = self.draw("statement")
            if write(self):
                self.used.add(own)
                return
        self.grammar.otherwise(self)

    # -- expressions -------------------------------------------------------------------------------

    def number(self, depth: int | None = None) -> Operand:
        """An expression of type int."""
        if depth is None:
            depth = 0 if self.chance(0.08) else 1 if self.chance(0.75) else 2
        if depth > 0:
            for _ in range(5):
                own, make = self.draw("int")
                value: Operand | None = make(self, depth - 1)
                if value is not None and (
                    value.lo < value.hi or self.chance(0.1)
                ):  # else no more than a literal
                    self.used.add(own)
                    return value
        return self.atom()

    def atom(self) -> Operand:
        known = self.of("int")
        if known and self.chance(0.8):
            return self.recent(known)
        return self.constant()

    def variable(self) -> Operand:
        known = self.of("int")
        return self.recent(known) if known else self.constant()

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
        return str(self.pick("aaabbcdeeilnorstxy"))

    def string(self, depth: int | None = None) -> Operand:
        """An expression of type str."""
        if depth is None:
            depth = 0 if self.chance(0.15) else 1 if self.chance(0.85) else 2
        if depth > 0:
            for _ in range(5):
                own, make = self.draw("str")
                value: Operand | None = make(self, depth - 1)
                if value is not None:
                    self.used.add(own)
                    return value
        known = self.of("str")
        if known and self.chance(0.75):
            return self.recent(known)
        word = self.word()
        return Operand(f'"{word}"', "str", len(word), len(word))

    def list_display(self, low: int = 1, high: int = 5) -> Operand:
        n = self.between(low, high)
        items = [self.literal(0, 9) if self.chance(0.7) else self.small() for _ in range(n)]
        least, most = min((v.lo for v in items), default=0), max((v.hi for v in items), default=0)
        return Operand(
            f"[{', '.join(v.text for v in items)}]",
            "list",
            n,
            n,
            items="int",
            item_lo=min(0, least),
            item_hi=max(99, most),
        )

    def small(self) -> Operand:
        """A number of at most three digits."""
        known = [v for v in self.of("int") if v.lo >= -999 and v.hi <= 999]
        return self.recent(known) if known and self.chance(0.7) else self.constant()

    def condition(self) -> str:
        for _ in range(5):
            own, make = self.draw("condition")
            text: str | None = make(self)
            if text is not None:
                self.used.add(own)
                return text
        return f"{self.variable().at(1)} {self.pick(('>', '<'))} {self.below(10)}"
