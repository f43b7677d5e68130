"""Three levels of help by a machine for a model that runs programs. Every published number names its
level."""

from collections.abc import Mapping
from enum import StrEnum


class Level(StrEnum):
    """The level of help by a machine.

    PROCESSOR: the model computes each operation. READER: it also reads the lines and chooses the next one.
    ALONE: it receives the program and one state. (The prompts of nano contain facts that a machine can look
    up in these two: `notation.edits`, `notation.following`.)
    """

    PROCESSOR = "processor"
    READER = "reader"
    ALONE = "alone"


_SHARES = (
    ("reads the line, orders its operations", "machine (compiles)", "model", "model"),
    (
        "looks up the line that runs, the values that it names, the lines that may follow",
        "machine",
        "machine, by the names that the model asks for",
        "none; for nano, a machine",
    ),
    (
        "chooses the line after a test",
        "model says T or F, machine goes there",
        "model, from line to line, by indentation and first word",
        "model",
    ),
    (
        "computes + - * // % and comparisons, tests",
        "model, digit by digit on squared paper",
        "model (that of the processor)",
        "model, digit by digit in its answer; nano at once",
    ),
    ("lays the digits out in columns", "machine", "machine", "nobody"),
    (
        "keeps variables, lists, texts, the stack; makes frames",
        "machine",
        "machine",
        "model, in its answer",
    ),
    (
        "methods and builtins that Python has in C",
        "machine runs them as functions, model computes their operations",
        "the same",
        "model, at once",
    ),
    ("finds the handler of an exception", "machine", "not in its language", "model"),
)
SHARES: Mapping[str, Mapping[Level, str]] = {
    what: dict(zip(Level, who, strict=True)) for what, *who in _SHARES
}
"""Work -> level -> who does it."""


def table() -> str:
    """The shares as Markdown, for the card and the docs."""
    rows = [["", *(level.value for level in Level)], ["---"] * 4]
    rows += [[what, *(by[level] for level in Level)] for what, by in SHARES.items()]
    return "\n".join([f"| {' | '.join(row)} |" for row in rows])
