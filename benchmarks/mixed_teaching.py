"""One model for the steps of runs and for their results, or a model for each: does learning to step help?

    python -m benchmarks.mixed_teaching FOLDER [--seeds 3] [--passes 4] [--quick] [--publish PAGE]

Execution Tuning (arXiv:2503.05703) asks whether a model that learns to execute step by step says results at
once more often, and trains on several notations. Here both is asked of small models from nothing, on programs
that ask for nothing but the flow of values: one to four lines of copies and swaps of three variables. So a
model learns a step within a minute of one processor, and what is left is whether it can go through some lines
in its head. Nothing follows from this for large models, or for other programs.

Models that differ in what they read alone, of each of the seeds:

    direct          lessons of results, each read so many times (--passes)
    direct, longer  the same, as many updates as `both`
    dynamic         lessons of steps, as many, read as often
    both            the lessons of `direct` and of `dynamic` together, each read as often as there
    scratchpad      whole traces of the same runs, every line with all variables, read as often
    compact         whole traces with what changes

Measured on programs that were not taught: the share of results that are right at once (greedy, by value), of
models that learned results; and, first, the measure of Execution Tuning: the share of steps that are exact
when everything before them is true. For `dynamic` this is the state before, for traces their true beginning.
A step is the text up to the next event; every token of it must be the model's first choice.
Parts: recordings, lessons, training, answers, page. The same command goes on with what is missing.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import numpy as np
import torch

from benchmarks._commands import run
from benchmarks._execution import written
from benchmarks._page import machine, published, table
from deskcheck.ask.results.statistics import bounds_text, mean_interval, paired_difference
from deskcheck.notation import Moment, moments
from deskcheck.notation.forms.scratchpad import compact_lines, scratchpad_lines
from deskcheck.notation.layout import program_text, trace_prompt
from deskcheck.recording import Recording
from deskcheck.recording.reader import Recordings
from deskcheck.teach.small.checkpoints import Checkpoint, open_checkpoint
from deskcheck.teach.small.interpreter import ModelRows
from deskcheck.teach.small.stepper import exact_steps

BEGIN, END = "<!-- figures: written by benchmarks/mixed_teaching.py -->", "<!-- end of the figures -->"
LESSONS: Mapping[str, tuple[str, ...]] = {
    "direct": ("direct",),
    "dynamic": ("dynamic",),
    "both": ("direct", "dynamic"),
    "scratchpad": ("scratchpad",),
    "compact": ("compact",),
}
MODELS: Mapping[str, tuple[str, int]] = {
    "direct": ("direct", 1),
    "direct, longer": ("direct", 2),
    "dynamic": ("dynamic", 1),
    "both": ("both", 1),
    "scratchpad": ("scratchpad", 1),
    "compact": ("compact", 1),
}
"""What it reads, and how many times as often."""
TRACES: Mapping[str, Callable[[Iterable[Moment]], Iterator[str]]] = {
    "scratchpad": scratchpad_lines,
    "compact": compact_lines,
}
_NAMES = ("a", "b", "c")
_LINES = (1, 4)
"""Of a body, before its return."""
_INPUTS = 2
"""Of each program."""
_ROWS, _EACH = 32, 2
"""Lessons of an update, and how many of them are of one program."""


def flow_program(chance: random.Random) -> tuple[str, int]:
    """A program of copies and swaps, and how many lines its body has."""
    lines = [f"def f({', '.join(_NAMES)}):"]
    count = chance.randint(*_LINES)
    for _ in range(count):
        one, two, _ = chance.sample(_NAMES, 3)
        lines.append(chance.choice((f"    {one} = {two}", f"    {one}, {two} = {two}, {one}")))
    lines.append(f"    return {chance.choice(_NAMES)}")
    return "\n".join(lines) + "\n", count


def write_programs(file: Path, count: int, seed: int, without: set[str]) -> set[str]:
    """So many different programs, with inputs of one digit; none of those to be left out. Their texts."""
    chance = random.Random(seed)
    rows: list[dict[str, object]] = []
    texts: set[str] = set()
    while len(rows) < count:
        code, lines = flow_program(chance)
        if code in texts | without:
            continue
        texts.add(code)
        inputs = {str(tuple(chance.randint(0, 9) for _ in range(3))) for _ in range(_INPUTS)}
        about = {"id": f"flow{len(rows)}_{lines}", "code": code, "entry": "f"}
        rows.append({**about, "inputs": sorted(inputs), "licence": "Apache-2.0", "train_ok": True})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join([json.dumps(row) + "\n" for row in rows]))
    return texts


def recordings(folder: Path, options: argparse.Namespace) -> None:
    """Programs to learn from, and others to be asked about."""
    taught = write_programs(folder / "taught.jsonl", options.programs, 11, set())
    write_programs(folder / "asked.jsonl", options.asked, 12, taught)
    for name in ("taught", "asked"):
        if not (folder / name).exists():
            source, out = str(folder / f"{name}.jsonl"), str(folder / name)
            run("record", source, "--out", out, "--no-repeat", "--sandbox", "trusted")


def lessons(folder: Path, options: argparse.Namespace) -> None:
    """As many steps of each program as it has inputs, so that there are as many of each kind."""
    for name, notations in LESSONS.items():
        run(
            *("lessons", str(folder / "taught"), "--out", str(folder / f"lessons-{name}")),
            *("--notation", ",".join(notations), "--steps", str(_INPUTS), "--no-ids"),
            *("--validation", "0", "--test", "0"),
        )


def training(folder: Path, options: argparse.Namespace) -> None:
    """All models of all seeds."""
    for seed in range(options.seeds):
        for name, (read, times) in MODELS.items():
            kept = json.loads((folder / f"lessons-{read}" / "lessons.json").read_text())["summary"]["kept"]
            count = sum(one["lessons"] for one in kept["train"].values())
            steps = max(1, round(times * options.passes * count / _ROWS))
            run(
                *("teach", str(folder / f"lessons-{read}"), "--out", str(_model(folder, name, seed))),
                *("--seed", str(seed), "--steps", str(steps), "--batch-size", str(_ROWS)),
                *("--steps-per-program", str(_EACH), "--layers", "3", "--hidden-size", "64"),
                *("--learning-rate", "0.004", "--eval-every", "500", "--vocab-words", "128"),
            )


def _model(folder: Path, name: str, seed: int) -> Path:
    return folder / f"model-{name.replace(', ', '-')}-{seed}"


def answers(folder: Path, options: argparse.Namespace) -> None:
    """What each model says: results at once, and steps after a true beginning."""
    asked = list(Recordings(folder / "asked"))
    for seed in range(options.seeds):
        for name, (read, _) in MODELS.items():
            file = folder / f"answers-{name.replace(', ', '-')}-{seed}.json"
            if file.exists():
                continue
            checkpoint = open_checkpoint(_model(folder, name, seed))
            told: dict[str, dict[str, float]] = {}
            for notation in LESSONS[read]:
                if notation == "direct":
                    results = written(checkpoint, asked, "direct", 100)
                    told["direct"] = {one.id: float(right) for one, right, _ in results}
                else:
                    told[notation] = {
                        f"{one.id}/{number}": float(exact)
                        for one in asked[: options.stepped]
                        for number, exact in enumerate(steps_after_truth(checkpoint, one, notation))
                    }
            file.write_text(json.dumps(told))
            print(
                f"{file.name}: { ({kind: round(fmean(x.values()), 4) for kind, x in told.items()}) }",
                flush=True,
            )


def steps_after_truth(checkpoint: Checkpoint, one: Recording, notation: str) -> list[bool]:
    """For each step of a run: whether the model's first choices are its text, where all before is true."""
    if notation == "dynamic":
        return list(exact_steps(checkpoint, one))
    true = list(moments(one.trace, file=one.program.filename))
    parts = parts_of(true, TRACES[notation])
    tokenizer = checkpoint.tokenizer
    rows = ModelRows(checkpoint.network, tokenizer, [program_text(one.program)])
    prompt = tokenizer.encode(trace_prompt(one.program, notation))
    text, ends = "", [0]
    for number, part in enumerate(parts):
        text += part + ("\n" if number < len(parts) - 1 else "")
        ends.append(len(tokenizer.encode(text)))
    tokens = tokenizer.encode(text)
    if ends[-1] != len(tokens):
        raise SystemExit(f"{one.id}: a token reaches over the end of a step")
    logs = rows.logs([0], [[*prompt, *tokens]])
    said = logs[0].argmax(-1)[len(prompt) - 1 : -1]
    right = said == np.array(tokens)
    return [bool(right[a:b].all()) for a, b in pairwise(ends[1:])]


def parts_of(true: Sequence[Moment], lines: Callable[[Iterable[Moment]], Iterator[str]]) -> list[str]:
    """The text of a trace, by the event that it tells of."""
    begun = 0

    def counted() -> Iterator[Moment]:
        nonlocal begun
        for moment in true:
            begun += 1
            yield moment

    found: list[list[str]] = [[] for _ in true]
    for line in lines(counted()):
        found[begun - 1].append(line)
    return ["\n".join(part) for part in found]


def page(folder: Path, options: argparse.Namespace) -> None:
    """The figures, between the marks of --publish, if that is given."""
    asked = {one.id: one for one in Recordings(folder / "asked")}
    told = {
        (name, seed): json.loads((folder / f"answers-{name.replace(', ', '-')}-{seed}.json").read_text())
        for name in MODELS
        for seed in range(options.seeds)
    }
    text = "\n\n".join(
        [
            _steps_table(told, asked, options.seeds),
            _results_table(told, asked, options.seeds),
            _differences(told, asked, options.seeds),
            f"Machine: {machine()}; torch {torch.__version__}.",
        ]
    )
    if options.publish:
        options.publish.write_text(published(text + "\n", options.publish, BEGIN, END), encoding="utf-8")
    else:
        print(text)


Told = Mapping[tuple[str, int], Mapping[str, Mapping[str, float]]]


def _pooled(told: Told, asked: Mapping[str, Recording], name: str, kind: str, seeds: int) -> list[str]:
    """A mean over the seeds with an interval clustered by program, and each seed's own mean."""
    scores: list[float] = []
    clusters: list[str] = []
    for seed in range(seeds):
        for key, score in told[name, seed][kind].items():
            scores.append(score)
            clusters.append(asked[key.partition("/")[0]].program.code)
    found = mean_interval(scores, clusters)
    each = ", ".join(f"{fmean(told[name, seed][kind].values()):.3f}" for seed in range(seeds))
    bounds = bounds_text(found.low, found.high, between="-")
    return [f"{found.value:.3f} ({bounds})", each, str(found.n), str(found.clusters)]


def _steps_table(told: Told, asked: Mapping[str, Recording], seeds: int) -> str:
    rows = [
        [name, kind, *_pooled(told, asked, name, kind, seeds)]
        for name, (read, _) in MODELS.items()
        for kind in LESSONS[read]
        if kind != "direct"
    ]
    return table(["model", "steps exact after a true beginning", "all", "by seed", "steps", "programs"], rows)


def _results_table(told: Told, asked: Mapping[str, Recording], seeds: int) -> str:
    sizes = sorted({_lines(key) for key in asked})
    rows = []
    for name, (read, _) in MODELS.items():
        if "direct" in LESSONS[read]:
            scores = [one for seed in range(seeds) for one in told[name, seed]["direct"].items()]
            by_size = [f"{fmean(score for key, score in scores if _lines(key) == n):.2f}" for n in sizes]
            rows.append([name, *_pooled(told, asked, name, "direct", seeds)[:2], *by_size])
    head = ["results right, said at once", "all", "by seed", *[f"{n} lines" for n in sizes]]
    return table(head, rows)


def _lines(key: str) -> int:
    """Of the body of the program of a run: `flow7_4_0` has four."""
    return int(key.split("_")[1])


def _differences(told: Told, asked: Mapping[str, Recording], seeds: int) -> str:
    """Paired by run, each the mean over the seeds; clustered by program."""
    rows = []
    for kind, first, second in (
        ("direct", "both", "direct"),
        ("direct", "both", "direct, longer"),
        ("dynamic", "both", "dynamic"),
    ):
        means = [
            {key: fmean(told[name, seed][kind][key] for seed in range(seeds)) for key in told[name, 0][kind]}
            for name in (first, second)
        ]
        clusters = {key: asked[key.partition("/")[0]].program.code for key in means[0]}
        found = paired_difference(means[1], means[0], clusters)
        each = ", ".join(
            f"{fmean(told[first, s][kind].values()) - fmean(told[second, s][kind].values()):+.3f}"
            for s in range(seeds)
        )
        what = "results" if kind == "direct" else "steps"
        bounds = bounds_text(found.low, found.high, form="+.3f")
        rows.append([what, f"{first} - {second}", f"{found.value:+.3f} ({bounds})", each])
    return table(["difference in", "models", "all seeds", "by seed"], rows)


PARTS = {part.__name__: part for part in (recordings, lessons, training, answers, page)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=PARTS, action="append", help="this part alone; may be given again")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--programs", type=int, default=1500, help="that are taught")
    parser.add_argument("--asked", type=int, default=250, help="programs that are asked about")
    parser.add_argument("--stepped", type=int, default=400, help="runs whose steps are looked at, at most")
    parser.add_argument("--passes", type=float, default=4, help="how often each lesson is read")
    parser.add_argument("--quick", action="store_true", help="shows that it works, and measures nothing")
    parser.add_argument("--publish", type=Path, metavar="PAGE", help="write the figures into this page")
    options = parser.parse_args()
    if options.quick:
        options.seeds, options.programs, options.asked, options.passes = 1, 40, 12, 1
    for part in options.only or PARTS:
        PARTS[part](options.folder, options)


if __name__ == "__main__":
    main()
