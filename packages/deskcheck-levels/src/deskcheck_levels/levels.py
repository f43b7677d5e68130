"""How much a machine does for a model that runs programs: three levels, to be named beside every number."""

from collections.abc import Mapping
from enum import StrEnum


class Level(StrEnum):
    """PROCESSOR: the model computes each operation. READER: it also reads the lines and says where to go on.
    ALONE: it is given the program and one state. (The prompts of the nano that ships hold what can be looked
    up in these two: `notation.edits`, `notation.following`.)"""

    PROCESSOR = "processor"
    READER = "reader"
    ALONE = "alone"


SHARES: Mapping[str, Mapping[Level, str]] = {
    "reads the line, orders its operations": {
        Level.PROCESSOR: "machine (compiles)",
        Level.READER: "model",
        Level.ALONE: "model",
    },
    "looks up the line that runs, the values that it names, the lines that may follow": {
        Level.PROCESSOR: "machine",
        Level.READER: "machine, by the names that the model asks for",
        Level.ALONE: "nobody; for nano, a machine",
    },
    "says where to go on after a test": {
        Level.PROCESSOR: "model says T or F, machine goes there",
        Level.READER: "model, from line to line, by indentation and first word",
        Level.ALONE: "model",
    },
    "computes + - * // % and comparisons, tests": {
        Level.PROCESSOR: "model, digit by digit on squared paper",
        Level.READER: "model (that of the processor)",
        Level.ALONE: "model, digit by digit in its answer; nano at once",
    },
    "lays the digits out in columns": {
        Level.PROCESSOR: "machine",
        Level.READER: "machine",
        Level.ALONE: "nobody",
    },
    "keeps variables, lists, texts, the stack; makes frames": {
        Level.PROCESSOR: "machine",
        Level.READER: "machine",
        Level.ALONE: "model, in its answer",
    },
    "methods and builtins that Python has in C": {
        Level.PROCESSOR: "machine runs them as functions, model computes their operations",
        Level.READER: "the same",
        Level.ALONE: "model, at once",
    },
    "finds the handler of an exception": {
        Level.PROCESSOR: "machine",
        Level.READER: "not in its language",
        Level.ALONE: "model",
    },
}
"""What is done -> level -> who does it."""


def table() -> str:
    """The shares as Markdown, for the card and the docs."""
    rows = [["", *(level.value for level in Level)], ["---"] * 4]
    rows += [[what, *(by[level] for level in Level)] for what, by in SHARES.items()]
    return "\n".join([f"| {' | '.join(row)} |" for row in rows])
