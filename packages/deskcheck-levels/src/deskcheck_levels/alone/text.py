"""A program and a state as words, and an answer as the edit of a state."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from deskcheck_levels.alone.words import (
    BUILTINS,
    FILLERS,
    LINES,
    NAMES,
    NUMBER,
    SLOTS,
    Words,
    value_text,
    value_words,
)
from deskcheck_levels.machine.frames import OutsideLanguage
from deskcheck_levels.reader.teacher import refuse
from deskcheck_levels.reader.text import ReadFunction, SourceLine, functions

Left: TypeAlias = tuple[int, int, int]
"""The rest of an iterator over a range: start, stop, step."""


@dataclass(frozen=True, slots=True)
class AloneState:
    """A state of a run of one function.

    event: ``call``, ``line`` or ``return``. range_left: the rest of the running loop's range. value: the
    returned value.
    """

    event: str
    line: int
    names: Mapping[str, Any]
    range_left: Left | None = None
    value: Any = None


@dataclass(frozen=True, slots=True)
class AloneProgram:
    """A program of one function. names: of each name that it has the word."""

    function: ReadFunction
    names: Mapping[str, str]

    def words(self) -> Words:
        """The text line by line, and the end below it."""
        words = [word for line in self.function.lines for word in self.line_words(line)]
        return [*words, f"L{self.function.lines[-1].number + 1}", "I0", "end"]

    def line_words(self, line: SourceLine) -> Words:
        """A line with its number and indentation; behind each slot what it stands for."""
        words = [f"L{line.number}", f"I{line.depth}"]
        for word in line.words:
            words.append(word)
            if word[0] == "S" and word[1:].isdigit():
                slot = line.slots[int(word[1:])]
                words += value_words(slot.value) if slot.name is None else [self.name_word(slot.name)]
        return [*words, "nl"]

    def name_word(self, name: str) -> str:
        return name if name in BUILTINS else self.names[name]

    def line(self, number: int) -> int:
        """The place of a line among those of the function."""
        for index, line in enumerate(self.function.lines):
            if line.number == number:
                return index
        raise OutsideLanguage(f"line {number}, which the function does not have")


@lru_cache(maxsize=512)
def read_program(code: str) -> AloneProgram:
    """A program; its names get words in their order. Raises OutsideLanguage for what is not one function of
    lines that can be written in words."""
    read_functions = list(functions(code).values())
    if len(read_functions) != 1:
        raise OutsideLanguage("a program that is not exactly one function")
    function = read_functions[0]
    names: dict[str, str] = {}
    loops: list[int] = []
    for line in function.lines:
        loops = [depth for depth in loops if depth < line.depth]
        if line.kind == "for":
            if loops:  # a state says of an iterator not whose it is
                raise OutsideLanguage("nested loops over ranges")
            loops = [line.depth]
        if len(line.slots) > SLOTS:
            raise OutsideLanguage("a line with too many names and literals")
        if line.number >= LINES or any(word not in NUMBER for word in line.words):
            raise OutsideLanguage("a long program, or an unknown word")
        if line.kind not in ("else", "def"):
            refuse(line.words)
        for slot in line.slots:
            if slot.name is not None and slot.name not in BUILTINS:
                names.setdefault(slot.name, f"N{len(names)}")
    if len(names) > NAMES:
        raise OutsideLanguage("a program with too many names")
    program = AloneProgram(function, names)
    program.words()  # refuses values
    return program


_ATOM = r"(?:-?[0-9]+(?:\.[0-9]+)?|True|False|None)"
_STATE = re.compile(
    r"globals: def \w+\n(?P<call>call )?\w+ (?P<line>[0-9]+)"
    rf"(?:: (?P<names>\w+={_ATOM}(?:, \w+={_ATOM})*))?"
    r"(?: \| <range_iterator left=range\((?P<left>-?[0-9]+, -?[0-9]+(?:, -?[0-9]+)?)\)>)?"
)


def read_state(text: str) -> AloneState:
    """A state in the notation `dynamic` that a step is asked of. Raises OutsideLanguage for others."""
    state = _STATE.fullmatch(text)
    if state is None:
        raise OutsideLanguage("a state with more than numbers and one loop over a range")
    names = {}
    for entry in (state["names"] or "").split(", ") if state["names"] else ():
        name, _, value = entry.partition("=")
        names[name] = ast.literal_eval(value)
    range_left = None
    if state["left"]:
        start, stop, *step = (int(part) for part in state["left"].split(", "))
        range_left = (start, stop, step[0] if step else 1)
    return AloneState("call" if state["call"] else "line", int(state["line"]), names, range_left)


def left_words(range_left: Left) -> Words:
    start, stop, step = range_left
    words = ["Rs", *value_words(start), "Re", *value_words(stop)]
    return words if step == 1 else [*words, "Rp", *value_words(step)]


def state_words(program: AloneProgram, state: AloneState) -> Words:
    """The words of a question: only a state."""
    words = ["state", *(["call"] if state.event == "call" else []), f"@{state.line}"]
    for name, value in state.names.items():
        if name not in program.names:
            raise OutsideLanguage(f"the variable {name}, which is not in the program")
        words += [program.names[name], *value_words(value)]
    if state.range_left is not None:
        words += left_words(state.range_left)
    return [*words, "ask"]


def edit_words(program: AloneProgram, before: AloneState, after: AloneState, stored: Sequence[str]) -> Words:
    """The answer proper: line, variables that were stored, the loop where it is another."""
    words = ["so", *(["return"] if after.event == "return" else []), f"@{after.line}"]
    for name in dict.fromkeys(stored):
        words += [program.names[name], *value_words(after.names[name])]
    if after.range_left != before.range_left:
        words += ["gone"] if after.range_left is None else left_words(after.range_left)
    if after.event == "return":
        words += ["->", *value_words(after.value)]
    return [*words, "stop"]


def _parts(words: Sequence[str]) -> Iterator[tuple[str, Words]]:
    """Each word with the fillers behind it."""
    start = 0
    while start < len(words):
        end = start + 1
        while end < len(words) and words[end] in FILLERS:
            end += 1
        yield words[start], list(words[start + 1 : end])
        start = end


def edit_text(program: AloneProgram, words: Sequence[str]) -> str:
    """The edit of a state (`notation.edits`) that an answer tells; what was worked out before it is dropped.
    Raises ValueError where it tells none."""
    answer = list(words)
    if "so" not in answer or answer[-1:] != ["stop"]:
        raise ValueError("no answer after the working")
    answer = answer[answer.index("so") + 1 : -1]
    names = {word: name for name, word in program.names.items()}
    kind, line, entries, range_parts, loop_ended, value = "", "", [], {}, False, ""
    for word, filled in _parts(answer):
        if word == "return":
            kind = "return "
        elif word[0] == "@":
            line = word[1:]
        elif word in names:
            entries.append(f"{names[word]}={value_text(filled)}")
        elif word in ("Rs", "Re", "Rp"):
            range_parts[word] = value_text(filled)
        elif word == "gone":
            loop_ended = True
        elif word == "->":
            value = f" -> {value_text(filled)}"
        else:
            raise ValueError(f"{word}: not part of an answer")
    entries.sort(
        key=lambda entry: entry.partition("=")[0]
    )  # variables that one step binds stand in this order
    text = f"{kind}{line}: {', '.join(entries)}" if entries else f"{kind}{line}"
    if range_parts:
        text += f" | <range_iterator left=range({', '.join(range_parts.values())})>"
    return text + (" |" if loop_ended else "") + value
