"""What a model of the level `reader` gets wrong, by cause: every question that the texts of a source can put.

    python -m benchmarks.reader_errors MODEL --source generated:300,difficulty=1-10,seed=9002 [--quick]

Nothing is run. Of each function every line is asked, with its tests true and false, and for every line where
the function goes on after it. What is right says the teacher (`teach.reader.teacher`), which tests hold
against recordings. Each word is asked after words that are right. Beside the errors: how often lessons, half
drawn and half of programs, ask the same, so that a gap in them shows.
"""

import argparse
import contextlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from benchmarks._page import table
from deskcheck.teach.machine.frames import OutsideLanguage
from deskcheck.teach.reader import lessons, network
from deskcheck.teach.reader.teacher import REPLIED, next_place, orders, where_answer
from deskcheck.teach.reader.text import NUMBER, WORDS, Outline, where_words

Reader = Callable[[tuple[int, ...], tuple[int, ...]], int]
Found = tuple[str, str, bool]
"""Cause, what it depends on, whether it is right."""
TESTED = ("if", "elif", "for", "while")


def cause_of_where(outline: Outline, place: int, outcome: str) -> tuple[str, str]:
    """What kind of way it is, and how far: lines between the line and the one that follows."""
    lines = [(depth, kind) for _, depth, kind in outline]
    after = next_place(lines, place, outcome)
    kind = lines[place][1]
    if after is None:
        return "the function ends", f"{len(lines) - place:2} lines are left"
    far = abs(after - place) - 1
    between = "next to it" if far == 0 else f"{far:2} between" if far < 8 else " 8 or more between"
    if kind in ("break", "continue"):
        return kind, between
    if outcome == "T":
        return "into a block", between
    if outcome == "F":
        return f"{kind} that is false", between
    if after <= place:
        return "back to a loop", between
    return "the next line" if far == 0 else "over elif and else, or out of blocks", between


def asked_where(reader: Reader, outline: Outline) -> Iterator[Found]:
    """Where a function goes on, from each of its lines."""
    for place, _, kind in outline:
        if kind in ("def", "else", "return"):
            continue
        for outcome in ("T", "F") if kind in TESTED else ("go",):
            words = where_words(outline, place, outcome)
            said = WORDS[reader(tuple([NUMBER[word] for word in words]), ())]
            yield (*cause_of_where(outline, place, outcome), said == where_answer(words))


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
        outline = [(at, line.depth, line.kind) for at, line in enumerate(function.lines)]
        yield from asked_where(reader, outline)
        for line in function.lines[1:]:
            if line.kind == "else":
                continue
            for again in (False, True) if line.kind == "for" else (False,):
                with contextlib.suppress(OutsideLanguage):
                    yield from asked_line(reader, line.words, again, chance)


def taught(source: str, count: int) -> Counter[str]:
    """How many questions of each cause there are among so many lessons, half drawn, half of programs."""
    half = count // 2
    given = [*islice(lessons.drawn(0), half), *islice(lessons.of_programs(source, 0), half)]
    found: Counter[str] = Counter()
    for words, _ in given:
        text = [WORDS[word] for word in words]
        if text[0] == "where":
            shown = [word for word in text[5:-2] if word not in ("in", "at")]
            lines = zip(shown[::3], shown[1::3], shown[2::3], strict=True)
            outline = [(int(label[1:]), int(depth[1:]), kind) for label, depth, kind in lines]
            at = [label for label, _, _ in outline].index(int(text[1][1:]))
            moved = [(number, depth, kind) for number, (_, depth, kind) in enumerate(outline)]
            found[cause_of_where(moved, at, text[4])[0]] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("--source", default="generated:300,difficulty=1-10,inputs=1,seed=9002")
    parser.add_argument("--taught", default="generated:3000,difficulty=1-10,inputs=1,seed=101")
    parser.add_argument("--lessons", type=int, default=20_000)
    parser.add_argument("--quick", action="store_true", help="30 programs, 2,000 lessons")
    options = parser.parse_args()
    if options.quick:
        options.lessons, options.source = 2_000, "generated:30,difficulty=1-10,inputs=1,seed=9002"
        options.taught = "generated:100,difficulty=1-10,inputs=1,seed=101"
    found = list(asked(network.load(options.model / network.FILE), options.source))
    share = taught(options.taught, options.lessons)
    rows = []
    for cause in sorted({cause for cause, _, _ in found}):
        some = [(what, right) for one, what, right in found if one == cause]
        wrong = Counter(what for what, right in some if not right)
        most = ", ".join(f"{what}: {count}" for what, count in wrong.most_common(3))
        counts = [f"{len(some):,}", f"{sum(wrong.values()):,}", f"{sum(wrong.values()) / len(some):.4f}"]
        rows.append(
            [cause, *counts, "" if "line:" in cause else f"{share[cause] / options.lessons:.4f}", most]
        )
    head = ["question", "asked", "wrong", "share", "share of the lessons", "most errors"]
    print(table(head, rows))


if __name__ == "__main__":
    main()
