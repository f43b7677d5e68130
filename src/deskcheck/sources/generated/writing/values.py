"""What is known of the values in a program that is being written: types and intervals, and their bounds.

The writer knows where they can be seen, and what may be assigned to them.
"""

from dataclasses import dataclass

LIMIT = 20_000
"""Numbers, either way from zero."""
PRODUCT = 5000
"""What is multiplied comes to no more."""
LIST = 8
"""Items of a list."""
TEXT = 20
"""Characters of a text."""
KEYS = 8
"""Entries of a dictionary."""
TRIPS = 36
"""Rounds of a loop, times those of the loops around it."""
COST = 160
"""About how many lines a call runs at most."""
GROWTH = 4000
"""What a loop may add to a number in all its rounds."""


class CannotWrite(Exception):
    """What was drawn does not fit at this place of the program."""


@dataclass(slots=True)
class Operand:
    """An expression. lo, hi: interval of a number, or of the length of a text or container.

    prec: how tightly its text is bound: 3 a name or call, 2 a product, 1 a sum, 0 less.
    items, item_lo, item_hi: the same of what a container holds ("int" or "str"); of a dict, of its values,
    and keys is the type of its keys. indexes: the list in which the number is an index.
    """

    text: str
    kind: str
    lo: int = 0
    hi: int = 0
    prec: int = 3
    items: str = ""
    item_lo: int = 0
    item_hi: int = 0
    keys: str = ""
    indexes: str = ""

    def at(self, prec: int) -> str:
        return self.text if self.prec >= prec else f"({self.text})"


@dataclass(slots=True)
class Local(Operand):
    """depth: of loops where it may be assigned to; 0 outside. branch: of branches where it was made.

    looped: a loop runs its assignments again: lo and hi stay as they are, assigned values keep between
    base_lo and base_hi, and it may grow by `growth` in all. since: the loop that widened it. locked: its
    length may not change: it is gone through, or has two names.
    """

    depth: int = 0
    branch: int = 0
    looped: bool = False
    base_lo: int = 0
    base_hi: int = 0
    growth: int = 0
    since: int = 0
    locked: bool = False
    counter: bool = False


@dataclass(frozen=True, slots=True)
class Helper:
    """A helper that was written. cost: lines that a call runs. optional: parameters with a default.
    level: what it belongs to. lines: its text."""

    name: str
    parameters: tuple[Operand, ...]
    returns: Operand
    cost: int
    optional: int = 0
    level: int = 8
    lines: tuple[str, ...] = ()


def largest(value: Operand) -> int:
    return max(abs(value.lo), abs(value.hi))


def sum_of(a: Operand, sign: str, b: Operand) -> Operand:
    low, high = (a.lo + b.lo, a.hi + b.hi) if sign == "+" else (a.lo - b.hi, a.hi - b.lo)
    if low < -LIMIT or high > LIMIT:
        raise CannotWrite
    return Operand(f"{a.at(1)} {sign} {b.at(2)}", "int", low, high, 1)


def product_of(a: Operand, b: Operand) -> Operand:
    if largest(a) * largest(b) > PRODUCT or min(largest(a), largest(b)) > 20:
        raise CannotWrite
    corners = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi]
    return Operand(f"{a.at(2)} * {b.at(3)}", "int", min(corners), max(corners), 2)
