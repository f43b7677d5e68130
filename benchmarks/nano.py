"""deskcheck-nano from nothing: recordings, lessons, training, the graph, and the figures of its card.

    python -m benchmarks.nano FOLDER [--level 3] [--families] [--steps 10000] [--device cuda] [--only PART]

Everything is done by `deskcheck` commands, which are printed, in a folder that holds it all; each goes on
where it was ended, so that the same command can be given until it is done. Parts: recordings, lessons,
training, graph, figures. It is taught generated programs up to a level; with `--families` also those of
families of long executions.

Nothing of what the figures are measured on is trained: of generated programs a twentieth is held out by its
text, and of every family one text, in all its inputs; without `--families` they are all unseen.
"""

import argparse
import json
import os
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from pathlib import Path

from benchmarks._commands import run
from benchmarks._page import machine, table
from deskcheck.ask.results.statistics import bounds_text, mean_interval
from deskcheck.recording import Recording
from deskcheck.recording.reader import Recordings

PARTS = ("recordings", "lessons", "training", "graph", "figures")
LEARNED = ("generated", "families", "families-more", "families-long", "families-all")
TRAINED_TEXTS, HELD_OUT_TEXT = "0-2", 3
LONG = {"binary_counter": 100_000, "collatz": None, "odometer": 20_000}
"""Families of long executions -> line events of a run; None: 30 starts below 10^5, each to its end."""


def recordings(folder: Path, options: argparse.Namespace) -> None:
    """Programs to learn from, and those that are held out."""
    common = ["--no-repeat", "--workers", str(options.workers)]

    def record(source: str, name: str) -> None:
        run("record", source, "--out", str(folder / "runs" / name), *common)

    record(f"generated:{options.programs},difficulty=1-{options.level},seed=1", "generated")
    most = options.variants
    for name in LONG if options.families else ():
        family = f"family:{name},texts={TRAINED_TEXTS}"
        record(f"{family},variants=0-60,inputs=8,seed=1", "families")
        if LONG[name]:  # states as they are late in a long run
            record(f"{family},variants=61-110,inputs=1,events=30000,seed=4", "families-long")
        record(f"{family},variants=111-{most},inputs=3,seed=5", "families-more")
    if options.families:
        record(f"family:all,texts={TRAINED_TEXTS},variants=0-12,inputs=3,seed=1", "families-all")
        record(f"family:all,texts={HELD_OUT_TEXT},inputs=30,seed=2", "held-out")
    for name, events in LONG.items():
        wanted = f"events={events},inputs=1" if events else "inputs=30"
        record(f"family:{name},texts={HELD_OUT_TEXT},{wanted},seed=3", f"long-{name}")


def lessons(folder: Path, options: argparse.Namespace) -> None:
    """States of the programs to learn from, each with the next one."""
    runs = [folder / "runs" / name for name in LEARNED]
    run(
        *("lessons", *[str(one) for one in runs if one.exists()], "--out", str(folder / "lessons")),
        *("--steps", str(options.each), "--budget", "1500", "--no-ids"),
        *("--validation", "0.02", "--test", "0.05"),
    )


def training(folder: Path, options: argparse.Namespace) -> None:
    """A model from nothing."""
    run(
        *("teach", str(folder / "lessons"), "--out", str(folder / "model"), "--steps", str(options.steps)),
        *(
            "--batch-size",
            str(options.rows),
            "--steps-per-program",
            "8",
            "--layers",
            "5",
            "--hidden-size",
            "128",
            "--learning-rate",
            "0.003",
        ),
        *("--eval-every", "500", "--device", options.device),
    )


def graph(folder: Path, options: argparse.Namespace) -> None:
    """The model without torch."""
    from deskcheck.teach.small.export import export
    from deskcheck.teach.small.model import Model

    model, about = Model.load(folder / "model")
    export(model, about, folder / "graph" / "model.onnx")
    print(f"{(folder / 'graph' / 'model.onnx').stat().st_size / 1e6:.2f} MB")


def held_out(folder: Path) -> Iterator[Recording]:
    """Recordings of generated programs that are in no lesson of the training split."""
    import pyarrow.parquet as pq

    tests: set[str] = set()
    for file in sorted((folder / "lessons").glob("*.parquet")):
        found = pq.read_table(file, columns=["program", "split"], filters=[("split", "==", "test")])
        tests.update(found["program"].to_pylist())
    for recording in Recordings(folder / "runs" / "generated"):
        if recording.id in tests:
            yield recording


def figures(folder: Path, options: argparse.Namespace) -> None:
    """What the card says."""
    from deskcheck.teach.small.checkpoints import open_checkpoint
    from deskcheck.teach.small.stepper import exact_steps

    checkpoint = open_checkpoint(folder / "graph")
    told: dict[str, object] = {"machine": machine(), "options": vars(options) | {"folder": ""}}

    def flags(one: Recording, most: int | None = None) -> Iterator[bool]:
        return exact_steps(checkpoint, one, rows=options.rows, limit=most)

    def steps(chosen: Sequence[Recording]) -> dict[str, list[bool]]:
        return {one.id: list(flags(one, 200)) for one in chosen}

    generated = list(islice(held_out(folder), options.held_out))
    found = steps(generated)
    lines = [_share("generated programs, unseen", generated, found)]
    for level in range(1, options.level + 1):
        some = [one for one in generated if one.program.extra["difficulty"] == level]
        lines.append(_share(f"of them level {level}", some, found))
    families: dict[str, list[Recording]] = defaultdict(list)
    for one in Recordings(folder / "runs" / "held-out") if options.families else ():
        families[one.id.split("-")[0]].append(one)
    for name, chosen in families.items():
        lines.append(_share(name, chosen, steps(chosen)))
    print(table(["steps from true states", "programs", "steps", "exact", "95 %"], lines))
    longest = []
    for name in LONG:
        runs, whole = [], 0
        for one in Recordings(folder / "runs" / f"long-{name}"):
            right = sum(1 for _ in takewhile(bool, flags(one)))
            runs.append(right)
            whole += right == len(one.trace) - 1
        longest.append([name, f"{whole} of {len(runs)}", str(max(runs)), f"{statistics.median(runs):.0f}"])
    print(table(["runs, exact from the start", "whole", "longest", "median"], longest))
    told |= {"each": lines, "longest": longest}
    (folder / "figures.json").write_text(json.dumps(told, indent=1, default=str) + "\n")


def _share(name: str, chosen: Sequence[Recording], found: dict[str, list[bool]]) -> list[str]:
    scores = [float(ok) for one in chosen for ok in found[one.id]]
    clusters = [one.program.code for one in chosen for _ in found[one.id]]
    if not scores:
        return [name, "0", "0", "-", "-"]
    share = mean_interval(scores, clusters)
    return [
        name,
        str(len({one.program.code for one in chosen})),
        str(len(scores)),
        f"{share.value:.4f}",
        bounds_text(share.low, share.high, form=".4f"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=PARTS, action="append", help="this part alone; may be given again")
    parser.add_argument("--programs", type=int, default=16_000, help="generated ones")
    parser.add_argument("--level", type=int, default=3, help="highest level of the generated ones")
    parser.add_argument("--families", action="store_true", help="long executions are taught, too")
    parser.add_argument("--variants", type=int, default=500, help="of each text of a long family")
    parser.add_argument("--each", type=int, default=48, help="lessons of a program")
    parser.add_argument("--steps", type=int, default=10_000, help="updates")
    parser.add_argument("--rows", type=int, default=32, help="lessons of an update; steps asked at once")
    parser.add_argument("--held-out", type=int, default=1000, help="generated programs that are asked")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    for part in options.only or PARTS:
        globals()[part](options.folder, options)


if __name__ == "__main__":
    main()
