"""What a model of the level `reader` gets wrong, by cause: every question that the texts of a source can put.

    python -m benchmarks.reader_errors MODEL --source generated:300,difficulty=1-10,seed=9002 [--quick]

Nothing is run. Of each function every line is asked, with its tests true and false, and every way from a line
to the one that comes next. What is right says the teacher (`reader.teacher`), which tests hold against
recordings and against CPython. Each word is asked after words that are right. Then all ways that can be asked
at all, whether or not a function of the source comes to them.
"""

import argparse
import contextlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from deskcheck_levels.machine.frames import OutsideLanguage
from deskcheck_levels.reader import lessons, network
from deskcheck_levels.reader.teacher import REPLIED, orders, way, way_from
from deskcheck_levels.reader.text import NUMBER, WORDS, Outline, all_ways, where_prompt

from benchmarks._page import table

Reader = Callable[[tuple[int, ...], tuple[int, ...]], int]
Found = tuple[str, str, bool]
"""Cause, what it depends on, whether it is right."""
TESTED = ("if", "elif", "for", "while")


def asked_way(reader: Reader, asked: tuple[str, int, tuple[int, str]]) -> Found:
    """One look on the way to the next line."""
    prompt, right = where_prompt(*asked), way(*asked)
    written: list[int] = []
    for word in right:
        if WORDS[reader(prompt, tuple(written))] != word:
            break
        written.append(NUMBER[word])
    return f"way: {asked[0]}", asked[2][1], len(written) == len(right)


def ways_of(outline: Outline) -> Iterator[tuple[str, int, tuple[int, str]]]:
    """What is asked on the ways from all lines of a function."""
    for place, (_, kind) in enumerate(outline):
        if kind not in ("def", "else", "return"):
            for outcome in ("T", "F") if kind in TESTED else ("go",):
                yield from way_from(outline, place, outcome)


def asked_line(reader: Reader, words: tuple[str, ...], again: bool, chance: random.Random) -> Iterator[Found]:
    """The orders of a line, one way through it."""
    prompt = tuple([NUMBER[word] for word in ("line", *words, "again" if again else "enter", "ask")])
    written: list[int] = []
    giving = orders(words, again)
    word: str | None = next(giving)
    while word is not None:
        said = WORDS[reader(prompt, tuple(written))]
        told = "a name or literal" if word[0] == "S" else "an order"
        yield f"line: {told}", f"{len(words) // 8 * 8:2} words and more", said == word
        written.append(NUMBER[word])
        try:
            if word in REPLIED:
                found = chance.random() < 0.6
                written.append(NUMBER["T" if found else "F"])
                word = giving.send(found)
            else:
                word = next(giving)
        except StopIteration:
            word = None


def asked(reader: Reader, source: str) -> Iterator[Found]:
    """All questions about the texts of a source, each text once."""
    chance = random.Random(0)
    for function in lessons.functions_of(source, any_licence=True):
        for asked_ in ways_of(function.outline):
            yield asked_way(reader, asked_)
        for line in function.lines[1:]:
            if line.kind == "else":
                continue
            for again in (False, True) if line.kind == "for" else (False,):
                with contextlib.suppress(OutsideLanguage):
                    yield from asked_line(reader, line.words, again, chance)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("--source", default="generated:300,difficulty=1-10,inputs=1,seed=9002")
    parser.add_argument("--quick", action="store_true", help="30 programs")
    options = parser.parse_args()
    if options.quick:
        options.source = "generated:30,difficulty=1-10,inputs=1,seed=9002"
    reader = network.load(options.model / network.FILE)
    found = list(asked(reader, options.source))
    found += [("all ways", what, right) for _, what, right in (asked_way(reader, one) for one in all_ways())]
    rows = []
    for cause in sorted({cause for cause, _, _ in found}):
        some = [(what, right) for one, what, right in found if one == cause]
        wrong = Counter(what for what, right in some if not right)
        most = ", ".join(f"{what}: {count}" for what, count in wrong.most_common(3))
        counts = [f"{len(some):,}", f"{sum(wrong.values()):,}", f"{sum(wrong.values()) / len(some):.4f}"]
        rows.append([cause, *counts, most])
    head = ["question", "asked", "wrong", "share", "most errors"]
    print(table(head, rows))


if __name__ == "__main__":
    main()
