"""Notations against each other: what small models learn from the same runs, told in four ways.

    python -m benchmarks.execution_tuning FOLDER [--seeds 3] [--tokens N] [--only PART] [--publish PAGE]

Parts: recordings, lessons, training, answers, page. Each goes on where it was ended, so that the same command
can be given until it is done; with other options take another folder.

The same runs for all: six families of long executions, a text of each to learn from, inputs for runs of 40
to 1,600 line events. Two in five inputs are held out. Asked about are these, of the text that was trained and
of another one. `dynamic` is also given a run of each family that is ten times as long as any that was taught:
how far does it come? The same budget for all: models of one shape read about the same number of tokens; a
notation with longer lessons has fewer of them in each update. Each notation is trained with several seeds,
which draw weights and the order of lessons.

Asked is what the call returns. `direct` says it at once; with `scratchpad` and `compact` the model writes the
whole trace and the answer is read from it; with `dynamic` it is an interpreter, one state in, the next out.
Lessons of more than `--budget` bytes are left out, as they are where a model has no room for them; a trace
that takes more tokens than that is not asked for: it counts as wrong.
"""

import argparse
import hashlib
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby, islice, product
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks._commands import run
from benchmarks._page import machine, published, table
from deskcheck.ask.solvers import read_trace
from deskcheck.ask.statistics import Interval, mean_interval, paired_difference
from deskcheck.ask.steps import Ran, steps_of
from deskcheck.corpus.families import FAMILIES as FAMILIES_KNOWN
from deskcheck.corpus.families import LICENCE, entry, families, text_of
from deskcheck.notation import NOTATIONS, Moment, compare_runs, moments
from deskcheck.notation.direct import ending
from deskcheck.notation.layout import program_text, trace_prompt
from deskcheck.recording import Recording
from deskcheck.recording.file import Recordings
from deskcheck.recording.value import decode
from deskcheck.teach.batches import read_lessons, shards, some_texts
from deskcheck.teach.checkpoints import Checkpoint
from deskcheck.teach.evaluation import run_all
from deskcheck.teach.interpreter import Rows
from deskcheck.teach.tokens import Edits, Words

Result = tuple[Recording, bool, Ran | None]
"""A run, whether its result is right, and how its states are; None where none were asked for."""

BEGIN, END = "<!-- figures: written by benchmarks/execution_tuning.py -->", "<!-- end of the figures -->"
PARTS = ("recordings", "lessons", "training", "answers", "page")
METHODS = ("direct", "scratchpad", "compact", "dynamic")
FAMILIES = ("binary_counter", "odometer", "collatz", "gcd_by_subtraction", "primes", "stack_machine")
TRAINED_TEXTS, ASKED_TEXTS = (0,), (0, 3)
LENGTHS = (50, 120, 300, 700, 1300)
"""Line events of a run: figures are given for those nearest to each, in ratio."""
LONG = 500
"""Runs of more line events are long executions."""
FAR = 15_000
"""Line events of the runs that are longer than any taught. The longest right one of E.T. has 14,055 steps."""
WITHOUT_FAR = ("collatz",)
"""No start below 10^9 takes so many."""
_DRAWN = [round(40 * 40 ** (k / 31)) for k in range(32)]
"""Lengths of run that inputs are looked for, from 40 to 1,600 line events."""
_HELD_OUT = 0.4
"""Share of inputs."""
_TOKENS_OF_UPDATE = {"dynamic": 700}
"""Of the others 1,500, which is a lesson of `scratchpad`."""
_EACH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A run that was asked about. run: its recording. steps: events after the first. right: the true result
    is the answer. ran: how the states are; None where none were asked for: of `direct`, and over the budget.
    seen: whether the program's text was trained, with other inputs."""

    method: str
    seed: int
    run: str
    family: str
    program: str
    steps: int
    right: bool
    ran: Ran | None
    seen: bool

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "Answered":
        """Inverse of `asdict`."""
        return cls(**(row | {"ran": row["ran"] and Ran.from_dict(row["ran"])}))


def recordings(folder: Path, options: argparse.Namespace) -> None:
    """Runs to learn from, and those that are asked about."""
    chosen = options.families.split(",")
    far = [family for family in chosen if family not in WITHOUT_FAR]
    for name, these, texts, held_out, most, lengths in (
        ("trained", chosen, TRAINED_TEXTS, False, sys.maxsize, _DRAWN),
        ("asked", chosen, ASKED_TEXTS, True, options.asked, _DRAWN),
        ("far", far, TRAINED_TEXTS, True, 1, [FAR]),
    ):
        source = folder / f"{name}.jsonl"
        if not these:
            continue
        if not source.exists():
            folder.mkdir(parents=True, exist_ok=True)
            rows = [
                _row(family, text, options.inputs, held_out, most, lengths)
                for family, text in product(these, texts)
            ]
            part = source.with_suffix(".part")
            part.write_text("".join([json.dumps(row) + "\n" for row in rows]))
            part.replace(source)
        run(
            *("record", str(source), "--out", f"{folder}/{name}", "--no-repeat"),
            *("--workers", str(options.workers)),
        )


def _row(
    family: str, text: int, each: int, held_out: bool, most: int, lengths: Sequence[int]
) -> dict[str, object]:
    """A text with inputs, `each` drawn for each length of run: those that are held out or the others; at most
    so many, of short runs and of long ones."""
    inputs: dict[str, None] = {}
    code = text_of(FAMILIES_KNOWN[family], text)
    for events in lengths:
        for program in families(f"family:{family},texts={text},events={events},inputs={each},seed={events}"):
            assert program.arguments is not None
            digest = hashlib.sha256(f"{family}{program.arguments}".encode()).digest()
            if (digest[0] < _HELD_OUT * 256) is held_out:
                inputs[program.arguments] = None
    found, count = list(inputs), min(most, len(inputs))
    return {
        "id": family,
        "code": code,
        "entry": entry(code),
        "inputs": [found[k * len(found) // count] for k in range(count)],
        "licence": LICENCE,
        "train_ok": True,
    }


def lessons(folder: Path, options: argparse.Namespace) -> None:
    """The same runs in every notation."""
    for method in options.methods.split(","):
        run(
            *("lessons", f"{folder}/trained", "--out", f"{folder}/lessons-{method}", "--notation", method),
            *("--budget", str(options.budget), "--no-ids", "--validation", "0", "--test", "0"),
            *("--steps", str(options.steps), "--by-path"),
        )


def training(folder: Path, options: argparse.Namespace) -> None:
    """A model for each notation and seed."""
    for seed in range(options.seeds):
        for method in options.methods.split(","):
            tokens = _tokens(folder / f"lessons-{method}")
            rows = max(1, round(_TOKENS_OF_UPDATE.get(method, 1500) / tokens))
            steps = max(1, round(options.tokens / (rows * tokens)))
            run(
                *("teach", f"{folder}/lessons-{method}", "--out", f"{folder}/model-{method}-{seed}"),
                *("--seed", str(seed), "--steps", str(steps), "--rows", str(rows), "--each", str(_EACH)),
                *("--layers", str(options.layers), "--width", str(options.width)),
                *("--rate", str(options.rate), "--check", "500", "--device", options.device),
            )


def _tokens(folder: Path) -> float:
    """Tokens that a lesson takes to read, in the mean, with its part of the program, which several share;
    words of these lessons count as one."""
    files = shards(folder)
    tokenizer = Edits(Words.learned(some_texts(files), 768))
    read = lessons = 0
    for one in islice(read_lessons(files, "train", tokenizer), 300):
        read += len(one.program) * -(-len(one.each) // _EACH)
        read += sum(len(prompt) + len(completion) for prompt, completion in one.each)
        lessons += len(one.each)
    return read / lessons


def answers(folder: Path, options: argparse.Namespace) -> None:
    """Every model asked about every run that is held out, `dynamic` also about the long ones."""
    from deskcheck.teach.checkpoints import open_checkpoint

    texts = {one.program.code for one in Recordings(folder / "trained")}
    for seed, method in product(range(options.seeds), options.methods.split(",")):
        for name in ("asked", "far"):
            if name == "far" and (method != "dynamic" or not (folder / name).exists()):
                continue
            file = folder / f"{name}-{method}-{seed}.json"
            if file.exists():
                continue
            asked = list(Recordings(folder / name))
            checkpoint = open_checkpoint(folder / f"model-{method}-{seed}", options.device)
            found = (
                _stepped(checkpoint, asked)
                if method == "dynamic"
                else _written(checkpoint, asked, method, options.budget)
            )
            rows = [
                Answered(
                    method=method,
                    seed=seed,
                    run=one.id,
                    family=one.id.rsplit("_", 2)[0],
                    program=one.program.code,
                    steps=len(one.trace) - 1,
                    right=right,
                    ran=ran,
                    seen=one.program.code in texts,
                )
                for one, right, ran in found
            ]
            part = file.with_suffix(".part")
            part.write_text(json.dumps([asdict(row) for row in rows]))
            part.replace(file)
            print(f"{file.name}: {sum(row.right for row in rows)} of {len(rows)} right", flush=True)


def _written(checkpoint: Checkpoint, asked: Sequence[Recording], name: str, budget: int) -> Iterator[Result]:
    """The whole trace, or the ending alone, in one answer of at most `budget` tokens."""
    notation = NOTATIONS[name]
    by_length, sizes = [], []
    for one in sorted(asked, key=lambda one: len(one.trace)):
        size = len(checkpoint.tokenizer.encode(notation.render(one)))
        if size > budget:
            yield one, False, None
        else:
            by_length.append(one)
            sizes.append(size)
    for start in range(0, len(by_length), 16):
        some = by_length[start : start + 16]
        rows = Rows(checkpoint.network, checkpoint.tokenizer, [program_text(one.program) for one in some])
        # Of 16 the longest answer bounds all.
        rows.longest = 100 + max(sizes[start : start + 16]) * 5 // 4
        found = rows.ask({n: (trace_prompt(one.program, name), "") for n, one in enumerate(some)})
        for number, one in enumerate(some):
            true = list(moments(one.trace, file=one.program.filename))
            if name == "direct":
                states = notation.parse(found[number].text).moments
                yield one, _same(states, true), None
            else:
                told = read_trace(found[number].text, name, truncated=not found[number].ended)
                agreed = compare_runs(told.states, true, told.stop)
                yield one, _same(told.states, true), Ran(key=one.id, asked=len(told.states), agreement=agreed)


def _stepped(checkpoint: Checkpoint, asked: Sequence[Recording]) -> Iterator[Result]:
    """State by state, up to ten more than the longest run of about that length has."""
    by_length = sorted(asked, key=_length_of)
    for _, group in groupby(by_length, key=_length_of):
        some = list(group)
        for one in run_all(checkpoint, some, budget=10 + max(len(one.trace) for one in some)):
            true = list(moments(one.recording.trace, file=one.recording.program.filename))
            last = NOTATIONS["dynamic"].parse(one.run.states[-1]).moments
            ran = Ran(key=one.recording.id, asked=len(one.run.jumps), agreement=one.agreement)
            yield one.recording, _same(last, true), ran


def _length_of(recording: Recording) -> int:
    return _length(len(recording.trace) - 1)


def _same(told: Sequence[Moment], true: Sequence[Moment]) -> bool:
    """Whether the last state that is told ends as the run does, with the same value."""
    wanted, found = ending(true), told[-1] if told else None
    assert wanted is not None, "families return"
    return (
        found is not None
        and found.kind is wanted.kind
        and decode(found.value, found.objects) == decode(wanted.value, wanted.objects)
    )


# -- the page ------------------------------------------------------------------------------------


def page(folder: Path, options: argparse.Namespace) -> None:
    """Tables and plots of what came out, between the marks of --publish, if that is given."""
    rows, far = _answered(folder, "asked"), _answered(folder, "far")
    beside = options.publish.parent if options.publish else folder
    parts = [_trained(folder, options)]
    for seen, what in (
        (True, "Texts that were trained, other inputs"),
        (False, "Texts that were not trained"),
    ):
        some = [row for row in rows if row.seen is seen]
        plot = beside / f"execution-tuning-{'seen' if seen else 'unseen'}.svg"
        _plot(some, plot)
        parts += [
            f"### {what}",
            f"![Share of right results over the length of the run, by notation]({plot.name})",
            _accuracy(some),
            _by_family(some),
            _steps(some),
            _longest(some),
            _difference(some),
        ]
    if far:
        parts += ["### Far beyond the lengths that were taught", _far(far)]
    text = "\n\n".join([*parts, f"Machine: {machine()}."]) + "\n"
    if options.publish:
        options.publish.write_text(published(text, options.publish, BEGIN, END), encoding="utf-8")
    else:
        print(text)


def _answered(folder: Path, name: str) -> list[Answered]:
    files = sorted(folder.glob(f"{name}-*.json"))
    return [Answered.from_dict(row) for file in files for row in json.loads(file.read_text())]


def _trained(folder: Path, options: argparse.Namespace) -> str:
    """What each notation had to learn from, how long, and the loss it came to."""
    lines = []
    for method in METHODS:
        answered = sorted(folder.glob(f"asked-{method}-*.json"))
        curves = [folder / file.stem.replace("asked", "model", 1) / "metrics.jsonl" for file in answered]
        if not curves:
            continue
        told = json.loads((folder / f"lessons-{method}" / "lessons.json").read_text())["summary"]
        ends = [[json.loads(line) for line in curve.read_text().splitlines()[-5:]] for curve in curves]
        lines.append(
            [
                method,
                str(told["kept"]["train"][method]["lessons"]),
                str(told["left_out"].get(method, {}).get("over the budget", 0)),
                str(len(ends)),
                str(ends[0][-1]["step"]),
                _range([end[-1]["seconds"] / 60 for end in ends], ".0f"),
                _range([fmean(point["loss"] for point in end) for end in ends], ".3f"),
            ]
        )
    head = ["notation", "lessons", "too long", "models", "updates", "minutes each", "loss in the end"]
    return (
        f"{table(head, lines)}\n\nToo long: over {options.budget} bytes, left out. Loss: nats a token of the "
        "answer, mean of the last five points of the curve."
    )


def _range(values: Sequence[float], form: str) -> str:
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def _share(rows: Sequence[Answered]) -> Interval:
    return mean_interval([float(row.right) for row in rows], [row.program for row in rows])


def _length(steps: int) -> int:
    """The asked length that a run belongs to."""
    return min(LENGTHS, key=lambda events: abs(math.log(steps / events)))


def _shown(interval: Interval) -> str:
    return f"{interval.value:.2f} ({interval.low:.2f}-{interval.high:.2f})"


def _accuracy(rows: Sequence[Answered]) -> str:
    lines = []
    for method in METHODS:
        mine = [row for row in rows if row.method == method]
        if not mine:
            continue
        by_length = [[row for row in mine if _length(row.steps) == events] for events in LENGTHS]
        lines.append(
            [method, *[_shown(_share(some)) if some else "" for some in by_length], _shown(_share(mine))]
        )
    return table(["result right, by line events", *map(str, LENGTHS), "all"], lines)


def _by_family(rows: Sequence[Answered]) -> str:
    lines = []
    for family in sorted({row.family for row in rows}):
        cells = []
        for method in METHODS:
            mine = [row for row in rows if (row.method, row.family) == (method, family)]
            cells.append(f"{_share(mine).value:.2f}" if mine else "")
        lines.append([family, *cells])
    return table(["result right, by family", *METHODS], lines)


def _steps(rows: Sequence[Answered]) -> str:
    lines = []
    for method in METHODS[1:]:
        mine = [(row, row.ran) for row in rows if row.method == method and row.ran is not None]
        found = steps_of((replace(ran, key=f"{ran.key} {row.seed}"), row.program) for row, ran in mine)
        if found is None or found.exact is None or found.horizon is None:
            continue
        half = [found.horizon.value, found.horizon.low, found.horizon.high]
        value, low, high = ["all" if steps is None else f"{steps:.0f}" for steps in half]
        kinds = sorted(found.divergences.items(), key=lambda one: -one[1])
        lines.append(
            [
                method,
                f"{found.whole} of {found.runs}",
                str(found.judged),
                f"{found.exact.value:.4f} ({found.exact.low:.4f}-{found.exact.high:.4f})",
                f"{value} ({low}-{high})",
                ", ".join([f"{kind} {n}" for kind, n in kinds]),
            ]
        )
    head = [
        "",
        "runs right to the end",
        "steps judged",
        "of them right",
        "half of runs survive",
        "first mistakes",
    ]
    return table(head, lines)


def _longest(rows: Sequence[Answered]) -> str:
    lines = []
    for family in sorted({row.family for row in rows}):
        cells = []
        for method in METHODS[1:]:
            mine = [row.ran for row in rows if (row.method, row.family) == (method, family)]
            cells.append(str(max((ran.agreement.exact for ran in mine if ran), default=0)))
        lines.append([family, *cells])
    return table(["longest exact run, steps", *METHODS[1:]], lines)


def _far(rows: Sequence[Answered]) -> str:
    lines = []
    for family in sorted({row.family for row in rows}):
        mine = sorted((row for row in rows if row.family == family), key=lambda row: row.seed)
        exact = [str(row.ran.agreement.exact) for row in mine if row.ran]
        lines.append([family, str(mine[0].steps), ", ".join(exact)])
    return table(["one run, text trained", "steps", "exact from its start, by seed"], lines)


def _difference(rows: Sequence[Answered]) -> str:
    """Dynamic against direct on long executions, the same runs and seeds."""
    scores: dict[str, dict[str, float]] = {"direct": {}, "dynamic": {}}
    clusters: dict[str, str] = {}
    for row in rows:
        if row.steps > LONG and row.method in scores:
            key = f"{row.run} {row.seed}"
            scores[row.method][key] = float(row.right)
            clusters[key] = row.program
    both = scores["direct"].keys() & scores["dynamic"].keys()  # of seeds that both have
    if not both:
        return f"No runs of more than {LONG} line events were asked about with both."
    first, second = ({key: scores[method][key] for key in sorted(both)} for method in ("direct", "dynamic"))
    gained = paired_difference(first, second, {key: clusters[key] for key in sorted(both)})
    value, low, high = (round(100 * share) for share in (gained.value, gained.low, gained.high))
    return (
        f"Runs of more than {LONG} line events, {gained.n} pairs: with dynamic {value} points more are right "
        f"than with direct (95 % {low} to {high}, clustered by program)."
    )


_COLOURS = {"direct": "#888888", "scratchpad": "#d95f02", "compact": "#7570b3", "dynamic": "#1b9e77"}


def _plot(rows: Sequence[Answered], file: Path) -> None:
    """Share of right results over the length of the run, with 95 % intervals, on a logarithmic axis."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "deskcheck"  # the same figures give the same file
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for method in METHODS:
        at, found = [], []
        for events in LENGTHS:
            some = [row for row in rows if row.method == method and _length(row.steps) == events]
            if some:
                at.append(events)
                found.append(_share(some))
        values = [one.value for one in found]
        below = [one.value - one.low for one in found]
        above = [one.high - one.value for one in found]
        axes.errorbar(at, values, (below, above), label=method, color=_COLOURS[method], marker="o", capsize=3)
    axes.set(xscale="log", xlabel="line events of the run", ylabel="result right", ylim=(-0.03, 1.03))
    axes.set_xticks(LENGTHS, [str(events) for events in LENGTHS])
    axes.minorticks_off()
    axes.legend(frameon=False)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--methods", default=",".join(METHODS), help="with commas")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part alone; may be given again")
    parser.add_argument("--seeds", type=int, default=3, help="models of each notation")
    parser.add_argument("--tokens", type=int, default=10_000_000, help="that each model reads in training")
    parser.add_argument("--families", default=",".join(FAMILIES), help="with commas")
    parser.add_argument("--inputs", type=int, default=24, help="drawn for each text and length")
    parser.add_argument(
        "--steps", type=int, default=10_000, help="of each text as lessons of `dynamic`, by path"
    )
    parser.add_argument("--asked", type=int, default=30, help="runs of each text, at most")
    parser.add_argument("--budget", type=int, default=4000, help="tokens of a lesson, and of an answer")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--rate", type=float, default=0.004, help="the highest learning rate")
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--publish", type=Path, metavar="PAGE", help="write figures into this page, plots beside it"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    for part in options.only or PARTS:
        globals()[part](options.folder, options)


if __name__ == "__main__":
    main()
