"""What a model of the level `alone` that works its answers out does wrong, by cause.

    python -m benchmarks.alone_errors MODEL RUNS [--most N] [--show N]

Every step of the recorded runs, from its true state. A state is right if it is the recorded one, text for
text; a working is right if it is the rules', word for word. Steps outside of the model's language are counted
by reason, and are in no other figure. The cause is where the answer first leaves the rules.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from deskcheck_levels.alone.lesson import Writer
from deskcheck_levels.alone.stepping import AloneModels
from deskcheck_levels.alone.text import edit_text, read_program, read_state
from deskcheck_levels.alone.words import FILLERS
from deskcheck_levels.machine.frames import OutsideLanguage

from deskcheck.ask.results.statistics import bounds_text, mean_interval
from deskcheck.notation import state_text
from deskcheck.notation.edits import edited
from deskcheck.notation.layout import program_text
from deskcheck.recording import Recording
from deskcheck.recording.reader import Recordings
from deskcheck.teach.small.stepper import true_states

ROWS = 64


def cause(right: list[str], mine: list[str]) -> str:
    """Where an answer first leaves the rules."""
    at = next((at for at, (a, b) in enumerate(zip(right, mine, strict=False)) if a != b), len(mine))
    if ";" not in right[:at]:
        return "copy of the line"
    if "so" in right[:at]:
        return "answer"
    if any(word.startswith("out ") for word in right[:at]):
        return "next line"
    if at < len(right) and right[at - 1] in ("test", "keep", "next"):
        return "branch"
    owner = next(
        (word for word in reversed(right[:at]) if word not in FILLERS and not word.startswith("p ")), ""
    )
    if owner in (":", "bit") or owner[:1] == "#":
        op = next((word for word in reversed(right[:at]) if word in _OPERATORS), "")
        return f"digit of {op}"
    if at < len(right) and right[at] in FILLERS:
        return "operand or result"
    return "order of operations"


_OPERATORS = frozenset("+ - * // % / ** & | ^ << >> < <= == != > >= ~".split())


class Tally:
    """Counts over steps."""

    def __init__(self, show: int) -> None:
        self.scores: list[float] = []
        self.clusters: list[str] = []
        self.causes: Counter[str] = Counter()
        self.outside: Counter[str] = Counter()
        self.lucky, self.working, self.show = 0, 0, show

    def add(self, recording: Recording, before: str, right: list[str], mine: list[str], exact: bool) -> None:
        self.scores.append(float(exact))
        self.clusters.append(recording.program.code)
        if mine == right:
            return
        self.working += 1
        self.lucky += exact
        self.causes[cause(right, mine)] += 1
        if self.show:
            self.show -= 1
            print(before.split("\n")[-1], " ".join(right), " ".join(mine), "", sep="\n")


def steps(recording: Recording) -> Iterator[tuple[str, str]]:
    before = None
    for moment in true_states(recording):
        text = state_text(moment)
        if before is not None:
            yield before, text
        before = text


@dataclass(frozen=True, slots=True)
class _Asked:
    """A step: its recording, the states before and after it, the answer that is right."""

    recording: Recording
    before: str
    after: str
    right: list[str]


def asked(recording: Recording, writer: Writer, tally: Tally) -> Iterator[_Asked]:
    """The steps of a recording that are of the language; the others are counted."""
    for before, after in steps(recording):
        try:
            program = read_program(recording.program.code)
            words, _ = writer.step(program, read_state(before))
        except OutsideLanguage as error:
            tally.outside[str(error)] += 1
            continue
        if edited(before, edit_text(program, words)) != after:
            raise SystemExit(f"{recording.id}: the rules are wrong at {before!r}")
        yield _Asked(recording, before, after, words)


def measure(model: AloneModels, some: list[_Asked], tally: Tally) -> None:
    """Adds steps, asked all at once."""
    rows = model.read([program_text(one.recording.program) for one in some])
    found = rows.work([(rows.programs[row], one.before) for row, one in enumerate(some)])
    for row, one in enumerate(some):
        try:
            told = edit_text(read_program(one.recording.program.code), found[row].words)
            exact = edited(one.before, told) == one.after
        except ValueError:
            exact = False
        tally.add(one.recording, one.before, one.right, found[row].words, exact)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--most", type=int, help="so many recordings")
    parser.add_argument("--show", type=int, default=0, help="print so many wrong answers")
    options = parser.parse_args()
    model, writer, tally = AloneModels(options.model), Writer(), Tally(options.show)
    pending: list[_Asked] = []
    for recording in islice(Recordings(options.runs), options.most):
        pending += asked(recording, writer, tally)
        while len(pending) >= ROWS:
            measure(model, pending[:ROWS], tally)
            pending = pending[ROWS:]
    if pending:
        measure(model, pending, tally)
    interval = mean_interval(tally.scores, tally.clusters)
    assert interval is not None
    bounds = bounds_text(interval.low, interval.high, form=".5f", between="-")
    print(f"steps: {len(tally.scores):,}; exact {interval.value:.5f} ({bounds})")
    print(f"wrong workings: {tally.working}, with the right state all the same: {tally.lucky}")
    for name, count in tally.causes.most_common():
        print(f"{count:6}  {name}")
    print(f"outside of the language: {tally.outside.total()}")
    for why, count in tally.outside.most_common():
        print(f"{count:6}  {why}")


if __name__ == "__main__":
    main()
