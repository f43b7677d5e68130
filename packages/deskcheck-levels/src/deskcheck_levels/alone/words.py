"""The words of prompts and answers at the level `alone`, including numbers.

A number is a word for its owner, followed by the digits, the last one first. Names of the program are
numbered slots, and line numbers are words. The working of an operation has the words of `paper`.
"""

import re
from typing import Any, TypeAlias

from deskcheck_levels.machine.frames import OutsideLanguage
from deskcheck_levels.paper import cells
from deskcheck_levels.reader.text import COMPARISONS, KINDS, MOVES, OPERATORS, WAYS

FILE = "alone.npz"
"""Of a model, in its folder."""
NAMES, LINES, SLOTS, DEPTHS, HEIGHT, ROWS = 24, 48, 16, 10, 10, 6
"""Different names of a program; its lines; names and literals of a line; indentation; values that an
expression holds at a time; digits of a factor."""
BUILTINS = ("range", "min", "max", "abs", "divmod", "int", "round")
DIGITS = tuple("0123456789")
SIGN = "minus"
ATOMS = {"True": "T", "False": "F", "None": "none"}
_TRAIL = ("p less", "p same", "p more")
FILLERS = (*DIGITS, SIGN, ".", *ATOMS.values(), *BUILTINS, *_TRAIL, *cells.WRITTEN)
"""The words of a value, or of a row of a working. They follow the word for their owner."""
_PAPER = tuple([f"p {word}" for word in (*cells.MARKS, *cells.ANSWERS, *cells.COUNTS)])
WORDS = (
    *("", "state", "ask", "call", "so", "stop", "nl", ";", "->", "gone", "Rs", "Re", "Rp", "A", "B", "bit"),
    *FILLERS,
    *[word for word in _PAPER if word not in _TRAIL],
    *[f"p row{row}" for row in range(ROWS)],
    *KINDS,
    *("in", "not", "and", "or", "(", ")", ",", ":", "=", "~", "[", "]", "{", "}"),
    *OPERATORS,
    *[f"{op}=" for op in OPERATORS],
    *COMPARISONS,
    *("neg", "test", "keep", "drop", "over", "nip", "copy", "tuple", "unpack", "store", "iter", "next"),
    *("out T", "out F", "out go", "here", "end"),
    *[f"{move}:{way}" for move in MOVES[:2] for way in WAYS],
    *[f"#{count}" for count in range(10)],
    *[f"S{slot}" for slot in range(SLOTS)],
    *[f"I{depth}" for depth in range(DEPTHS)],
    *[f"V{height}" for height in range(HEIGHT)],
    *[f"N{name}" for name in range(NAMES)],
    *[f"L{line}" for line in range(1, LINES + 1)],
    *[f"@{line}" for line in range(1, LINES + 1)],
)
NUMBER = {word: number for number, word in enumerate(WORDS)}
if len(NUMBER) != len(WORDS):
    raise AssertionError("a word occurs twice")

Words: TypeAlias = list[str]
_FLOAT = re.compile(r"-?[0-9]{1,9}\.[0-9]{1,6}")
_TEXTS = {word: text for text, word in ATOMS.items()}


def value_words(value: Any) -> Words:
    """A number, truth value or None. Raises OutsideLanguage for anything else."""
    if isinstance(value, (bool, type(None))):
        return [ATOMS[str(value)]]
    if isinstance(value, int) and abs(value) < 10**12:
        return _turned(str(value))
    if isinstance(value, float) and _FLOAT.fullmatch(repr(value)):
        return _turned(repr(value))
    raise OutsideLanguage(f"a value of the kind {type(value).__name__}, or a long one")


def _turned(text: str) -> Words:
    sign = [SIGN] if text[0] == "-" else []
    return [*sign, *reversed(text.removeprefix("-"))]


def value_text(words: Words) -> str:
    """The value in Python's notation. Raises ValueError if the words are not a value."""
    if len(words) == 1 and words[0] in _TEXTS:
        return _TEXTS[words[0]]
    negative = words[:1] == [SIGN]
    text = "".join(reversed(words[negative:]))
    if not re.fullmatch(r"(0|[1-9][0-9]*)(\.[0-9]+)?", text):
        raise ValueError(f"{' '.join(words)}: not a value")
    return "-" * negative + text


def paper_words(written: list[int]) -> Words:
    """The words of a working in an answer; rows of a product are numbered."""
    words, rows = [], 0
    for number in written:
        word = cells.WORDS[number]
        if word == "row":
            words.append(f"p row{rows}")
            rows += 1
        else:
            words.append(word if number >= cells.CELL else f"p {word}")
    return words
