"""Types and intervals of the values in a generated program, and their bounds.

The writer knows where variables are visible, and which values may be assigned to them.
"""

from dataclasses import dataclass

LIMIT = 20_000
"""The largest absolute value of a number."""
PRODUCT = 5000
"""The largest absolute value of a product."""
LIST = 8
"""The largest number of items of a list."""
TEXT = 20
"""The largest number of characters of a text."""
KEYS = 8
"""The largest number of entries of a dictionary."""
TRIPS = 36
"""The largest number of rounds of a loop, times those of the loops around it."""
COST = 160
"""The approximate limit of the lines that a call runs."""
GROWTH = 4000
"""The largest sum that a loop may add to a number in all its rounds."""


class CannotWrite(Exception):
    """The drawn rule does not fit at this position of the program."""


@dataclass(slots=True)
class Operand:
    """An expression."""

    text: str
    kind: str
    lo: int = 0
    """Lower end of the interval of a number, or of the length of a text or container."""
    hi: int = 0
    """Upper end of this interval."""
    prec: int = 3
    """Precedence of the text: 3 for a name or call, 2 for a product, 1 for a sum, otherwise 0."""
    items: str = ""
    """Type of the items of a container, or of the values of a dict: ``int`` or ``str``."""
    item_lo: int = 0
    """Lower end of the interval of the items."""
    item_hi: int = 0
    """Upper end of this interval."""
    keys: str = ""
    """Type of the keys of a dict."""
    indexes: str = ""
    """Name of the list in which the number is a valid index."""

    def at(self, prec: int) -> str:
        return self.text if self.prec >= prec else f"({self.text})"


@dataclass(slots=True)
class Local(Operand):
    """A variable of the function that is being written."""

    depth: int = 0
    """Depth of loops at which it may be assigned to; 0 outside of loops."""
    branch: int = 0
    """Depth of branches at which it was created."""
    looped: bool = False
    """Whether a loop repeats its assignments. Then lo and hi do not change, assigned values must be between
    base_lo and base_hi, and all changes together must not exceed `growth`."""
    base_lo: int = 0
    base_hi: int = 0
    growth: int = 0
    since: int = 0
    """Depth of the loop that widened its interval."""
    locked: bool = False
    """Whether its length must not change, because a loop iterates over it or it has two names."""
    counter: bool = False
    """Whether it counts the rounds of a loop."""


@dataclass(frozen=True, slots=True)
class Helper:
    """A helper function that was written."""

    name: str
    parameters: tuple[Operand, ...]
    returns: Operand
    cost: int
    """Number of lines that a call runs."""
    optional: int = 0
    """Number of parameters with a default."""
    level: int = 8
    """The level that it belongs to."""
    lines: tuple[str, ...] = ()
    """The lines of its text."""


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
