"""Notations against each other: what small models learn from the same runs, told in four ways.

    python -m benchmarks.execution_tuning FOLDER [--seeds 3] [--tokens 6000000] [--only PART] [--publish PAGE]

Parts: recordings, lessons, training, answers, page. Each goes on where it was ended, so that the same command
can be given until it is done; with other options take another folder.

The same programs for all: families of long executions (six), some texts of each with its variants to learn
from. Asked about are one of these with other inputs, and a fourth text, inputs of each in five lengths, of
which the longest two are longer than anything that was trained. The same budget for all: models
of one shape read the same number of tokens in the same number of updates; a notation with longer lessons has
fewer of them in each. Each notation is trained with several seeds, which draw weights and order of lessons.

Asked is what the call returns. `direct` says it at once; with `scratchpad` and `compact` the model writes the
whole trace and the answer is read from it; with `dynamic` it is an interpreter, one state in, the next out.
A trace that takes more tokens than a lesson may have is not asked for: it counts as wrong.
"""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, islice, product
from pathlib import Path
from statistics import fmean

from benchmarks._commands import run
from benchmarks._page import machine, published, table
from deskcheck.ask.solvers import read_trace
from deskcheck.ask.statistics import Interval, mean_interval, paired_difference
from deskcheck.notation import NOTATIONS, Moment, Stop, compare_runs, moments
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

Result = tuple[Recording, bool, int, str]
"""A run, whether its result is right, how many states from the beginning are, why there are no more."""

BEGIN, END = "<!-- figures: written by benchmarks/execution_tuning.py -->", "<!-- end of the figures -->"
PARTS = ("recordings", "lessons", "training", "answers", "page")
METHODS = ("direct", "scratchpad", "compact", "dynamic")
FAMILIES = (
    "binary_counter",
    "collatz",
    "fibonacci",
    "gcd_by_subtraction",
    "digit_sums",
    "insertion_sort",
)
ASKED_TEXTS = (0, 3)
LENGTHS = (20, 60, 150, 500, 1000)
"""About so many line events: of six asked inputs each. The first three are trained, too."""
LONG = 500
"""Runs of more line events are long executions."""
_TOKENS_OF_UPDATE = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A run that was asked about. run: its recording. steps: events after the first. right: the true result
    is the answer. exact: states from the beginning that are right; None for `direct`, which has none. ended:
    why there are no more. seen: whether the program's text was trained, with other inputs."""

    method: str
    seed: int
    run: str
    family: str
    program: str
    steps: int
    right: bool
    exact: int | None
    ended: str
    seen: bool


def recordings(folder: Path, options: argparse.Namespace) -> None:
    """Runs to learn from, and those that are asked about."""
    common = ["--no-repeat", "--workers", str(options.workers)]
    for family in options.families.split(","):
        for events in LENGTHS[:3]:
            source = f"family:{family},texts={options.texts},variants=0-{options.variants}"
            run(
                "record",
                f"{source},events={events},inputs={options.trained},seed=1",
                "--out",
                f"{folder}/trained",
                *common,
            )
        for text, events in product(ASKED_TEXTS, LENGTHS):
            source = f"family:{family},texts={text},events={events},inputs={options.inputs},seed=2"
            run("record", source, "--out", f"{folder}/asked", *common)


def lessons(folder: Path, options: argparse.Namespace) -> None:
    """The same runs in every notation."""
    for method in options.methods.split(","):
        run(
            *("lessons", f"{folder}/trained", "--out", f"{folder}/lessons-{method}", "--notation", method),
            *("--budget", str(options.budget), "--no-ids", "--validation", "0", "--test", "0"),
        )


def training(folder: Path, options: argparse.Namespace) -> None:
    """A model for each notation and seed."""
    steps = max(1, options.tokens // _TOKENS_OF_UPDATE)
    for seed in range(options.seeds):
        for method in options.methods.split(","):
            rows = max(1, round(_TOKENS_OF_UPDATE / _tokens(folder / f"lessons-{method}")))
            run(
                *("teach", f"{folder}/lessons-{method}", "--out", f"{folder}/model-{method}-{seed}"),
                *("--seed", str(seed), "--steps", str(steps), "--rows", str(rows), "--each", "8"),
                *("--layers", str(options.layers), "--width", str(options.width)),
                *("--check", "500", "--device", options.device),
            )


def _tokens(folder: Path) -> float:
    """Tokens that a lesson takes to read, in the mean, with its part of the program, which up to eight share;
    words of these lessons count as one."""
    files = shards(folder)
    tokenizer = Edits(Words.learned(some_texts(files), 768))
    read = lessons = 0
    for one in islice(read_lessons(files, "train", tokenizer), 300):
        read += len(one.program) * -(-len(one.each) // 8)
        read += sum(len(prompt) + len(completion) for prompt, completion in one.each)
        lessons += len(one.each)
    return read / lessons


def answers(folder: Path, options: argparse.Namespace) -> None:
    """Every model asked about every run that is held out."""
    from deskcheck.teach.checkpoints import open_checkpoint

    trained = {(one.program.code, one.program.arguments) for one in Recordings(folder / "trained")}
    texts = {code for code, _ in trained}
    asked = [
        one
        for one in Recordings(folder / "asked")
        if (one.program.code, one.program.arguments) not in trained
    ]
    for seed in range(options.seeds):
        for method in options.methods.split(","):
            file = folder / f"answers-{method}-{seed}.json"
            if file.exists():
                continue
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
                    family=one.id.split("-")[0],
                    program=one.program.code,
                    steps=len(one.trace) - 1,
                    right=right,
                    exact=None if method == "direct" else exact,
                    ended=ended,
                    seen=one.program.code in texts,
                )
                for one, right, exact, ended in found
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
            yield one, False, 0, "over the budget"
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
                yield one, _same(states, true), 0, Stop.END.value
            else:
                told = read_trace(found[number].text, name, truncated=not found[number].ended)
                agreed = compare_runs(told.states, true, told.stop)
                yield one, _same(told.states, true), agreed.exact, told.stop.value


def _stepped(checkpoint: Checkpoint, asked: Sequence[Recording]) -> Iterator[Result]:
    """State by state, up to ten more than the longest run of about that length has."""
    by_length = sorted(asked, key=_length_of)
    for _, group in groupby(by_length, key=_length_of):
        some = list(group)
        for one in run_all(checkpoint, some, budget=10 + max(len(one.trace) for one in some)):
            true = list(moments(one.recording.trace, file=one.recording.program.filename))
            last = NOTATIONS["dynamic"].parse(one.run.states[-1]).moments
            yield one.recording, _same(last, true), one.agreement.exact, one.run.stop.value


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
    rows = [
        Answered(**row)
        for file in sorted(folder.glob("answers-*.json"))
        for row in json.loads(file.read_text())
    ]
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
            _longest(some),
            _difference(some),
        ]
    text = "\n\n".join([*parts, f"Machine: {machine()}."]) + "\n"
    if options.publish:
        options.publish.write_text(published(text, options.publish, BEGIN, END), encoding="utf-8")
    else:
        print(text)


def _trained(folder: Path, options: argparse.Namespace) -> str:
    """What each notation had to learn from, how long, and the loss it came to."""
    lines = []
    for method in METHODS:
        curves = sorted(folder.glob(f"model-{method}-*/metrics.jsonl"))
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
    return min(LENGTHS, key=lambda events: abs(steps - events))


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


def _longest(rows: Sequence[Answered]) -> str:
    lines = []
    for family in sorted({row.family for row in rows}):
        cells = []
        for method in METHODS[1:]:
            exact = [row.exact or 0 for row in rows if (row.method, row.family) == (method, family)]
            cells.append(str(max(exact, default=0)))
        lines.append([family, *cells])
    return table(["longest exact run, steps", *METHODS[1:]], lines)


def _difference(rows: Sequence[Answered]) -> str:
    """Dynamic against direct on long executions, the same runs and seeds."""
    scores: dict[str, dict[str, float]] = {"direct": {}, "dynamic": {}}
    clusters: dict[str, str] = {}
    for row in rows:
        if row.steps > LONG and row.method in scores:
            key = f"{row.run} {row.seed}"
            scores[row.method][key] = float(row.right)
            clusters[key] = row.program
    if not clusters:
        return f"No runs of more than {LONG} line events were asked about."
    gained = paired_difference(scores["direct"], scores["dynamic"], clusters)
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
    axes.axvspan(axes.get_xlim()[0], LENGTHS[2] * 1.15, color="#000000", alpha=0.05, label="lengths trained")
    axes.legend(frameon=False)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--methods", default=",".join(METHODS), help="with commas")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part alone; may be given again")
    parser.add_argument("--seeds", type=int, default=3, help="models of each notation")
    parser.add_argument("--tokens", type=int, default=6_000_000, help="that each model reads in training")
    parser.add_argument("--texts", default="0-2", help="of each family, that are trained; 0 is one of them")
    parser.add_argument("--variants", type=int, default=40, help="of each text that is trained")
    parser.add_argument("--families", default=",".join(FAMILIES), help="with commas")
    parser.add_argument("--trained", type=int, default=2, help="inputs of each text in each length, trained")
    parser.add_argument("--inputs", type=int, default=6, help="asked of each text in each length")
    parser.add_argument("--budget", type=int, default=4000, help="tokens of a lesson, and of an answer")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=128)
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
