"""Notations against each other: what small models learn from the same runs, told in four ways.

    python -m benchmarks.execution_tuning FOLDER [--seeds 3] [--tokens N] [--only PART] [--publish PAGE]

Parts: recordings, lessons, training, answers, page. Each goes on where it was ended, so that the same command
can be given until it is done; with other options take another folder.

The same runs for all, as far as they fit: six families of long executions, a text of each to learn from,
inputs for runs of about 40 to 1,600 line events. Two in five inputs are held out. Asked about are these, of
the text that was trained and of another one; where there are too few of them, also of longer runs. `dynamic`
is also given a run of each family that is ten times as long as any that was taught: how far does it come?
The same budget for all: models of one shape read about the same number of tokens; a notation with longer
lessons has fewer of them in each update. Each notation is trained with several seeds, which draw weights and
the order of lessons.

Asked is what the call returns. `direct` says it at once; with `scratchpad` and `compact` the model writes the
whole trace and the answer is read from it; with `dynamic` it is an interpreter, one state in, the next out.
Lessons of more than `--budget` bytes are left out, as they are where a model has no room for them; a trace
that takes more tokens than that is not asked for: it counts as wrong.
"""

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path

from benchmarks._commands import run
from benchmarks._execution import METHODS, Answered, family_of, stepped, updates, written
from benchmarks._execution_page import page
from deskcheck.recording.reader import Recordings
from deskcheck.sources.families.families import FAMILIES as FAMILIES_KNOWN
from deskcheck.sources.families.families import LICENCE, entry, families, text_of

FAMILIES = ("binary_counter", "odometer", "collatz", "gcd_by_subtraction", "primes", "stack_machine")
TRAINED_TEXTS, ASKED_TEXTS = (0,), (0, 3)
FAR = 15_000
"""Line events of the runs that are longer than any taught. The longest right one of E.T. has 14,055 steps."""
WITHOUT_FAR = ("collatz",)
"""No start below 10^9 takes so many."""
_DRAWN = [round(40 * 40 ** (k / 31)) for k in range(32)]
"""Lengths of run that inputs are looked for, from 40 to 1,600 line events."""
_LONGER = [2000, 2500, 3200, 4000, 5000, 6500, 8000]
"""Of runs that are asked about, in this order, where a text has too few inputs of those lengths."""
_HELD_OUT = 0.4
"""Share of inputs."""
_EACH = 8


def recordings(folder: Path, options: argparse.Namespace) -> None:
    """Runs to learn from, and those that are asked about."""
    chosen = options.families.split(",")
    far = [family for family in chosen if family not in WITHOUT_FAR]
    for name, these, texts, held_out, most, lengths in (
        ("trained", chosen, TRAINED_TEXTS, False, sys.maxsize, _DRAWN),
        ("asked", chosen, ASKED_TEXTS, True, options.asked, [*_DRAWN, *_LONGER]),
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
    so many, of short runs and of long ones. Longer ones than are taught only where so many are not found."""
    inputs: dict[str, None] = {}
    code = text_of(FAMILIES_KNOWN[family], text)
    for events in lengths:
        if events in _LONGER and len(inputs) >= most:
            break
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
        "inputs": [found[(2 * k + 1) * len(found) // (2 * count)] for k in range(count)],
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
            told = folder / f"lessons-{method}"
            rows, steps = updates(told, options.tokens, _EACH)
            run(
                *("teach", f"{folder}/lessons-{method}", "--out", f"{folder}/model-{method}-{seed}"),
                *(
                    "--seed",
                    str(seed),
                    "--steps",
                    str(steps),
                    "--batch-size",
                    str(rows),
                    "--steps-per-program",
                    str(_EACH),
                ),
                *("--layers", str(options.layers), "--hidden-size", str(options.width)),
                *("--learning-rate", str(options.rate), "--eval-every", "500", "--device", options.device),
            )


def answers(folder: Path, options: argparse.Namespace) -> None:
    """Every model asked about every run that is held out, `dynamic` also about the long ones."""
    from deskcheck.teach.small.checkpoints import open_checkpoint

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
                stepped(checkpoint, asked)
                if method == "dynamic"
                else written(checkpoint, asked, method, options.budget)
            )
            rows = [
                Answered(
                    method=method,
                    seed=seed,
                    run=one.id,
                    family=family_of(one.id),
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


PARTS = {part.__name__: part for part in (recordings, lessons, training, answers, page)}


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
        PARTS[part](options.folder, options)


if __name__ == "__main__":
    main()
