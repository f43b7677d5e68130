"""Lessons of the level `reader`: prompts with right answers, which are computed from texts without a run.

They have three sources: lines of generated programs; lines of a grammar, whose expressions are deeper than
those of programs; and all questions on the way to the next line. The outcome of each test is random.
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


def line_lesson(words: Sequence[str], again: bool, rng: random.Random) -> Lesson:
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
                outcome = rng.random() < 0.6
                text.append("T" if outcome else "F")
                taught.append(False)
                word = giving.send(outcome)
            else:
                word = next(giving)
        except StopIteration:
            word = None
    return [NUMBER[each_word] for each_word in text], taught


def way_lessons() -> list[Lesson]:
    """A lesson for each question about the next line."""
    lessons = []
    for question in all_ways():
        words, answer = where_words(*question), way(*question)
        text = [NUMBER[word] for word in (*words, *answer)]
        lessons.append((text, [False] * len(words) + [True] * len(answer)))
    return lessons


def functions_of(source: str, *, any_licence: bool = False) -> Iterator[ReadFunction]:
    """Functions of the texts of a source of programs, such as ``generated:1000,difficulty=1-10``.

    Each text once, and not those outside of the language. any_licence: also of those that are not cleared for
    training.
    """
    codes: set[str] = set()
    for program in programs(source):
        if program.code in codes or not (program.train_ok or any_licence):
            continue
        codes.add(program.code)
        with contextlib.suppress(OutsideLanguage):
            yield from functions(program.code).values()


def of_programs(source: str, seed: int, *, any_licence: bool = False) -> Iterator[Lesson]:
    """Lessons of `functions_of` a source."""
    rng = random.Random(seed)
    for function in functions_of(source, any_licence=any_licence):
        for line in function.lines[1:]:
            if line.kind != "else":
                again = line.kind == "for" and rng.random() < 0.3
                try:
                    yield line_lesson(line.words, again, rng)
                except OutsideLanguage:
                    continue


# ---- drawn ----


_GRAMMAR = """
line: 30 assignment | 10 target change value | 12 for loop in value : | 26 head condition : | 12 return values
line: 8 call | 2 alone
assignment: 85 target = value | 6 target , target = value | 6 target , target = value , value
assignment: 2 target , target , target = value | 1 target , target , target = value , value , value
target: 75 S | 25 S [ key ]
loop: 75 S | 20 S , S | 5 ( S , S )
head: 1 if | 1 elif | 1 while
alone: 1 break | 1 continue | 1 pass | 1 return
values: 75 value | 19 value , value | 6 value , value , value
value: 20 small | 29 operand op operand | 1 ( operand op operand ) | 6 sign operand | 12 condition
value: 6 operand if condition else value | 12 call | 8 primary [ key ] | 6 display
operand: 20 small | 15 operand op operand | 15 ( operand op operand ) | 6 sign operand | 12 ( condition )
operand: 6 ( operand if condition else value ) | 12 call | 8 primary [ key ] | 6 display
small: 92 S | 8 - S
sign: 2 - | 1 ~
primary: 50 S | 20 call | 30 primary [ key ]
condition: 10 S | 50 compared | 10 not test | 30 both
test: 10 S | 50 compared | 10 not test | 15 ( both ) | 15 test and test
compared: 85 operand comparison operand | 15 operand comparison operand less operand
comparison: 12 less | 1 in | 1 not in | 1 is | 1 is not
both: 38 test and test | 37 test or test | 7 test and test and test | 7 test or test or test
both: 6 test and test or test | 5 test or test and test
call: 50 S ( items ) | 50 primary . S ( items )
items: 25 | 25 value | 25 value , value | 25 value , value , value
key: 60 value | 8 : | 8 value : | 8 : value | 8 value : value | 3 value : value : value | 3 : : - S
key: 1 : value : value | 1 value : : value
display: 40 [ items ] | 10 [ value , value , value , value , value ] | 18 ( value , value )
display: 7 ( value , value , value ) | 15 { pairs } | 10 { values }
pairs: 30 value : value | 30 value : value , value : value | 30 value : value , value : value , value : value
pairs: 10 value : value , value : value , pairs
"""
"""Symbol: its alternatives after their weights, the first where no room is left. ``S``: a name or literal."""
_WORDS_OF = {"op": OPERATORS, "less": COMPARISONS, "change": tuple(f"{op}=" for op in OPERATORS)}


def _rules() -> dict[str, tuple[list[list[str]], list[int]]]:
    """Symbol -> its alternatives, and their weights."""
    rules = {name: ([[word] for word in words], [1] * len(words)) for name, words in _WORDS_OF.items()}
    for row in _GRAMMAR.strip().splitlines():
        name, _, alternatives = row.partition(": ")
        words, weights = rules.setdefault(name, ([], []))
        for alternative in alternatives.split(" | "):
            weight, *symbols = alternative.split()
            words.append(symbols)
            weights.append(int(weight))
    return rules


_RULES = _rules()
_ENDING = frozenset(
    name
    for name, (words, _) in _RULES.items()
    if not any(word in _RULES for option in words for word in option)
)
"""Symbols whose alternatives are words."""


def _drawn(symbol: str, room: int, rng: random.Random) -> list[str]:
    """Words that are drawn for a symbol. room: symbols inside one another."""
    if symbol not in _RULES:
        return [symbol]
    alternatives, weights = _RULES[symbol]
    if room <= 0 and symbol not in _ENDING:
        chosen = alternatives[0]
    else:
        (chosen,) = rng.choices(alternatives, weights)
    return [word for part in chosen for word in _drawn(part, room - 1, rng)]


def drawn_line(rng: random.Random) -> list[str]:
    """Words of a line that is drawn from a grammar."""
    while True:
        words = _drawn("line", rng.randint(3, 8), rng)
        if words.count("S") <= SLOTS and len(words) <= 48:
            return _in_order(words)


def _in_order(words: list[str]) -> list[str]:
    """With slots numbered as they come."""
    slots = iter(range(len(words)))
    return [f"S{next(slots)}" if word == "S" else word for word in words]


def drawn(seed: int) -> Iterator[Lesson]:
    """Lessons of lines that are drawn, without end."""
    rng = random.Random(seed)
    while True:
        words = drawn_line(rng)
        try:
            yield line_lesson(words, words[0] == "for" and rng.random() < 0.3, rng)
        except OutsideLanguage:
            continue
