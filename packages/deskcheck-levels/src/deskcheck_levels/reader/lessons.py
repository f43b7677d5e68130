"""Lessons of the level `reader`: prompts with what is right, computed from texts; nothing is run.

Three sources, mixed: lines of generated programs; lines of a grammar of our own, with deeper expressions than
programs have; all that can be asked on the way to the next line. Each test of a line comes out by chance.
"""

import contextlib
import random
from collections.abc import Iterator, Sequence

from deskcheck.sources import programs
from deskcheck_levels.machine.frames import OutsideLanguage
from deskcheck_levels.reader.teacher import REPLIED, orders, way
from deskcheck_levels.reader.text import (
    COMPARISONS,
    NUMBER,
    OPERATORS,
    SLOTS,
    ReadFunction,
    all_ways,
    functions,
    where_words,
)

Lesson = tuple[list[int], list[bool]]
"""Words of a prompt with its answer, and which of them the model is to write."""


def line_lesson(words: Sequence[str], again: bool, chance: random.Random) -> Lesson:
    """A line, with a way through it."""
    text = ["line", *words, "again" if again else "enter", "ask"]
    taught = [False] * len(text)
    giving = orders(words, again)
    word: str | None = next(giving)
    while word is not None:
        text.append(word)
        taught.append(True)
        try:
            if word in REPLIED:
                found = chance.random() < 0.6
                text.append("T" if found else "F")
                taught.append(False)
                word = giving.send(found)
            else:
                word = next(giving)
        except StopIteration:
            word = None
    return [NUMBER[one] for one in text], taught


def way_lessons() -> list[Lesson]:
    """All that can be asked about where to go on."""
    found = []
    for asked in all_ways():
        words, answer = where_words(*asked), way(*asked)
        text = [NUMBER[word] for word in (*words, *answer)]
        found.append((text, [False] * len(words) + [True] * len(answer)))
    return found


def functions_of(source: str, *, any_licence: bool = False) -> Iterator[ReadFunction]:
    """Functions of the texts of a source of programs, such as ``generated:1000,difficulty=1-10``.

    Each text once, and not those outside of the language. any_licence: also of those that are not cleared for
    training.
    """
    seen: set[str] = set()
    for program in programs(source):
        if program.code in seen or not (program.train_ok or any_licence):
            continue
        seen.add(program.code)
        with contextlib.suppress(OutsideLanguage):
            yield from functions(program.code).values()


def of_programs(source: str, seed: int, *, any_licence: bool = False) -> Iterator[Lesson]:
    """Lessons of `functions_of` a source."""
    chance = random.Random(seed)
    for function in functions_of(source, any_licence=any_licence):
        for line in function.lines[1:]:
            if line.kind != "else":
                again = line.kind == "for" and chance.random() < 0.3
                try:
                    yield line_lesson(line.words, again, chance)
                except OutsideLanguage:
                    continue


# ---- drawn ----


class _Drawn:
    """Lines of a grammar. room: how many names and literals a line may still have."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.slots = 0

    def slot(self) -> list[str]:
        self.slots += 1
        return [f"S{self.slots - 1}"]

    def value(self, depth: int, tight: bool = False) -> list[str]:
        """tight: it stands where only an operand may."""
        chance = self.chance
        if depth <= 0 or self.slots > 14:
            return self.small()
        kind = chance.random()
        if kind < 0.2:
            return self.small()
        if kind < 0.5:
            found = [*self.value(depth - 1, True), chance.choice(OPERATORS), *self.value(depth - 1, True)]
            return self.closed(found, tight and chance.random() < 0.5)
        if kind < 0.56:
            return [chance.choice(("-", "~", "-")), *self.value(depth - 2, True)]
        if kind < 0.68:
            return self.closed(self.condition(depth - 1), tight)
        if kind < 0.74:
            test = self.condition(depth - 1)
            return self.closed(
                [*self.value(depth - 1, True), "if", *test, "else", *self.value(depth - 1)], tight
            )
        if kind < 0.86:
            return self.call(depth - 1)
        if kind < 0.94:
            return [*self.primary(depth - 1), "[", *self.key(depth - 1), "]"]
        return self.display(depth - 1)

    def small(self) -> list[str]:
        return ["-", *self.slot()] if self.chance.random() < 0.08 else self.slot()

    def closed(self, words: list[str], needed: bool) -> list[str]:
        return ["(", *words, ")"] if needed or self.chance.random() < 0.05 else words

    def primary(self, depth: int) -> list[str]:
        kind = self.chance.random()
        if depth > 0 and kind < 0.2:
            return self.call(depth - 1)
        if self.slots < 14 and kind < 0.45:
            return [*self.primary(depth - 1), "[", *self.key(depth - 1), "]"]
        return self.slot()

    def condition(self, depth: int) -> list[str]:
        chance = self.chance
        kind = chance.random()
        if depth <= 0 or kind < 0.1:
            return self.slot()
        if kind < 0.6:
            op = chance.choice([*COMPARISONS, *COMPARISONS, "in", "not in", "is", "is not"]).split()
            found = [*self.value(depth - 1, True), *op, *self.value(depth - 1, True)]
            if chance.random() < 0.15:
                found += [chance.choice(COMPARISONS), *self.value(depth - 1, True)]
            return found
        if kind < 0.7:
            return ["not", *self.operand(depth - 1)]
        op = [chance.choice(("and", "or"))]
        found = [*self.operand(depth - 1), *op, *self.operand(depth - 1)]
        if chance.random() < 0.25:
            op = op if chance.random() < 0.5 else [chance.choice(("and", "or"))]
            found += [*op, *self.operand(depth - 1)]
        return found

    def operand(self, depth: int) -> list[str]:
        found = self.condition(depth)
        return self.closed(found, "or" in found or "if" in found)

    def items(self, depth: int, most: int) -> list[str]:
        found: list[str] = []
        for number in range(self.chance.randint(0, most)):
            found += [*([","] if number else []), *self.value(depth)]
        return found

    def call(self, depth: int) -> list[str]:
        head = [*self.primary(depth - 1), ".", *self.slot()] if self.chance.random() < 0.5 else self.slot()
        return [*head, "(", *self.items(depth, 3), ")"]

    def key(self, depth: int) -> list[str]:
        if self.chance.random() < 0.6:
            return self.value(depth)
        parts = [self.value(depth - 1) if self.chance.random() < 0.5 else [] for _ in range(2)]
        step = [":", *self.value(depth - 1)] if self.chance.random() < 0.2 else []
        if self.chance.random() < 0.15:
            step = [":", "-", *self.slot()]
        return [*parts[0], ":", *parts[1], *step]

    def display(self, depth: int) -> list[str]:
        kind = self.chance.random()
        if kind < 0.5:
            return ["[", *self.items(depth, self.chance.choice((4, 4, 8))), "]"]
        if kind < 0.75:
            third = [",", *self.value(depth)] if self.chance.random() < 0.3 else []
            return ["(", *self.value(depth), ",", *self.value(depth), *third, ")"]
        found: list[str] = []
        for number in range(self.chance.choice((1, 2, 3, 3, 6))):
            pair = [*self.value(depth - 1), ":", *self.value(depth - 1)] if kind < 0.9 else self.value(depth)
            found += [*([","] if number else []), *pair]
        return ["{", *found, "}"]

    def target(self) -> list[str]:
        if self.chance.random() < 0.25:
            return [*self.slot(), "[", *self.key(1), "]"]
        return self.slot()

    def line(self) -> list[str]:
        chance = self.chance
        depth = chance.randint(1, 4)
        kind = chance.random()
        if kind < 0.3:
            head = self.target()
            kind = chance.random()
            if kind < 0.15:
                head, many = [*head, ",", *self.target()], chance.random() < 0.3
                head += [",", *self.target()] if many else []
                if chance.random() < 0.4:
                    return [*head, "=", *self.value(depth)]
                third = [",", *self.value(depth)] if many else []
                return [*head, "=", *self.value(depth), ",", *self.value(depth), *third]
            return [*head, "=", *self.value(depth)]
        if kind < 0.4:
            return [*self.target(), chance.choice(OPERATORS) + "=", *self.value(depth)]
        if kind < 0.52:
            target = self.slot()
            if chance.random() < 0.25:
                target = self.closed([*target, ",", *self.slot()], chance.random() < 0.2)
            return ["for", *target, "in", *self.value(depth)]
        if kind < 0.78:
            return [chance.choice(("if", "elif", "while")), *self.condition(depth)]
        if kind < 0.9:
            more: list[str] = []
            while chance.random() < 0.25:
                more += [",", *self.value(depth)]
            return ["return", *self.value(depth), *more]
        if kind < 0.98:
            return self.call(depth)
        return [chance.choice(("break", "continue", "pass", "return"))]


def drawn_line(chance: random.Random) -> list[str]:
    """Words of a line that is drawn from a grammar."""
    while True:
        drawn = _Drawn(chance)
        words = drawn.line()
        if drawn.slots <= SLOTS and len(words) <= 48:
            return _in_order(words)


def _in_order(words: list[str]) -> list[str]:
    """With slots numbered as they come."""
    slots = iter(range(len(words)))
    return [f"S{next(slots)}" if word[0] == "S" else word for word in words]


def drawn(seed: int) -> Iterator[Lesson]:
    """Lessons of lines that are drawn, without end."""
    chance = random.Random(seed)
    while True:
        words = drawn_line(chance)
        try:
            yield line_lesson(words, words[0] == "for" and chance.random() < 0.3, chance)
        except OutsideLanguage:
            continue
