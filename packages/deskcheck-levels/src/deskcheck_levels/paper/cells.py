"""The words on the squared paper of an operation, and the windows of it.

The model sees one window of six words at a time, and its word depends on nothing else. So the windows can be
enumerated (`windows`), and a model that is right for all of them is right for every operation.
"""

from typing import TypeAlias

Window: TypeAlias = tuple[int, int, int, int, int, int]
"""(operation, last mark, what was written last, three cells); numbers of words in `WORDS`.

If a digit was written last, the window shows only its carry."""

DIGITS = tuple("0123456789")
CARRIES = tuple(f"c{carry}" for carry in range(10))
COUNTS = tuple(f"q{count}" for count in range(10))
OPERATIONS = tuple("+ - * // % < <= == != > >= neg truth not if unless".split())
MARKS = (
    *("start", "add", "compare", "subtract", "swapped", "row", "end", "short", "out", "scan", "increase"),
    *("complement", "raise"),
)
ANSWERS = ("positive", "negative", "less", "same", "more", "true", "false", "none")
WRITTEN = tuple(f"{digit}'{carry}" for carry in range(10) for digit in range(10))
"""A digit and what it carries: written as one word."""
WORDS = ("", *DIGITS, *CARRIES, *COUNTS, *OPERATIONS, *MARKS, *ANSWERS, *WRITTEN)
"""The first is an empty cell."""
NUMBER = {word: number for number, word in enumerate(WORDS)}

EMPTY = 0
ZERO = NUMBER["0"]
"""Digits d are ZERO + d; what is carried and counts alike."""
CARRY = NUMBER["c0"]
COUNT = NUMBER["q0"]
CELL = NUMBER["0'0"]
"""A digit d that carries c is CELL + 10 * c + d."""
SIZE = 6


def shown(word: int) -> int:
    """The part of the last word that a window shows."""
    return CARRY + (word - CELL) // 10 if word >= CELL else word


def cell(value: int) -> int:
    """The word for a value below 100: its last digit, carrying the first."""
    return CELL + value
