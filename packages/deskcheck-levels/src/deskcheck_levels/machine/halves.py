"""Numbers with a point, where they are exact: numerators over powers of two, whose whole numbers the model
computes with. A result that binary cannot hold exactly, or a nought that may have a sign, is outside.

Which fraction a number is, and back, is memory: as with the digits of a whole number.
"""

import math
from typing import Any

from deskcheck_levels.machine.frames import OutsideLanguage

MOST = 2**53
"""Numerators below this are exact in a double of IEEE 754."""
OF_FRACTIONS = {"+": "fraction_sum", "*": "fraction_product", "/": "fraction_quotient"}
"""Operator -> function of the prelude; ``-``, ``//``, ``%`` come from these."""


def ratio(a: int | float) -> tuple[int, int]:
    """Numerator and denominator. Raises OutsideLanguage for what is not a finite number, or -0.0."""
    if isinstance(a, float) and (not math.isfinite(a) or (a == 0 and math.copysign(1, a) < 0)):
        raise OutsideLanguage(f"the number {a!r}")
    return a.as_integer_ratio()


def joined(fraction: Any, op: str) -> float:
    """The number of a numerator and a denominator in lowest terms."""
    numerator, denominator = fraction
    if numerator == 0 and op not in ("+", "-"):
        raise OutsideLanguage("a float zero that may have a sign")
    if denominator & (denominator - 1) or abs(numerator) >= MOST or denominator > 2**1000:
        raise OutsideLanguage("a float that is not exact")
    return float(numerator / denominator)
