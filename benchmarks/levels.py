"""deskcheck-nano at the level `processor`, from nothing: trained with three seeds, and its card's figures.

    python -m benchmarks.levels FOLDER [--set cruxeval=FILE] [--ship] [--only PART]

Parts: training, recordings, figures. Everything is kept in the folder; the same command goes on from there.
`--ship` puts the model of the first seed into the package, and the tables into its card, between its marks.

Programs that are measured are of other seeds than those whose operations are taught; of families and
published sets nothing is taught. Each run starts from the first state, and its own answers are fed back.
"""

import argparse
import json
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from benchmarks._commands import run
from benchmarks._page import machine, table
from deskcheck.recording.reader import Recordings
from deskcheck.teach.levels import table as levels_table
from deskcheck.teach.machine.frames import OutsideLanguage, Raised
from deskcheck.teach.processor.network import FILE
from deskcheck.teach.processor.stepping import LevelReport, Processor, run_level
from deskcheck.teach.small.checkpoints import folder_of

NANO = folder_of("nano")
PARTS = ("training", "recordings", "figures")
SEEDS = (0, 1, 2)
TAUGHT = "generated:300,difficulty=1-10,seed=1,inputs=1"
LONG = {
    "binary_counter": "texts=3,events=110000",
    "odometer": "texts=3,events=110000",
    "primes": "texts=3,events=100000",
    "collatz_longest": "texts=1,events=100000",
    "digit_sums": "texts=1,events=100000",
}
"""Families of long executions -> what is recorded of them."""
SOURCES = {
    "generated, levels 1-3": "generated:1000,difficulty=1-3,inputs=1,seed=9001",
    "generated, levels 1-10": "generated:1000,difficulty=1-10,inputs=1,seed=9002",
    "26 families, all texts": "family:all,inputs=3,seed=9003",
    "Collatz, 375 starts to 10^9": "family:collatz,inputs=75,size=10000000-999999999,seed=9004",
    "Collatz of Execution Tuning": "family:collatz,inputs=paper,texts=0",
    **{f"long: {name}": f"family:{name},inputs=1,seed=3,{options}" for name, options in LONG.items()},
}
BEGIN, END = "<!-- figures: python -m benchmarks.levels -->", "<!-- end of figures -->"


def folder_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def training(folder: Path, options: argparse.Namespace) -> None:
    """Three models from nothing, by one command each."""
    for seed in SEEDS:
        out = folder / f"seed-{seed}"
        run("teach", "--steps-of", TAUGHT, "--seed", str(seed), "--out", str(out))


def recordings(folder: Path, options: argparse.Namespace) -> None:
    """What is measured on."""
    for name, source in _sources(options):
        out = folder / "runs" / folder_name(name)
        if not out.exists():
            run("record", source, "--out", str(out), "--sandbox", "trusted", "--no-repeat")


def _sources(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    yield from SOURCES.items()
    for given in options.set or ():
        name, _, file = given.partition("=")
        yield name, f"{name}:{file}"


def figures(folder: Path, options: argparse.Namespace) -> None:
    """The tables of the card."""
    lines = []
    told: dict[str, object] = {"machine": machine()}
    for name, _ in _sources(options):
        recorded = Recordings(folder / "runs" / folder_name(name))
        processor = Processor(folder / f"seed-{SEEDS[0]}")
        found = run_level(recorded, processor.machine)
        told[name] = found.to_dict() | {"asked": processor.counts()}
        lines.append(_line(name, found, processor))
        print(" | ".join(lines[-1]), flush=True)
    head = ["measured on", "runs inside", "right to the end", "steps", "exact", "longest", "operations"]
    tables = [table([*head, "distinct windows"], lines)]
    seeds = []
    for seed in SEEDS:
        about = Processor(folder / f"seed-{seed}").network.about
        seeds.append(
            [
                str(seed),
                f"{about['wrong']} of {about['windows']:,}",
                f"{about['least_lead']:.1f}",
                f"{about['seconds']:.0f} s",
            ]
        )
    tables.append(table(["seed", "windows that are wrong", "least lead, nats", "trained in"], seeds))
    tables.append(table(["speed, one core", "line steps a second"], list(_speeds(folder))))
    page = "\n\n".join(tables)
    print(page)
    (folder / "figures.json").write_text(json.dumps(told, indent=1, default=str) + "\n")
    (folder / "figures.md").write_text(page + "\n")
    if options.ship:
        shutil.copy(folder / f"seed-{SEEDS[0]}" / FILE, NANO / FILE)
        card = (NANO / "card.md").read_text()
        before, rest = card.split(BEGIN)
        after = rest.split(END)[1]
        (NANO / "card.md").write_text(f"{before}{BEGIN}\n\n{levels_table()}\n\n{page}\n\n{END}{after}")


def _line(name: str, found: LevelReport, processor: Processor) -> list[str]:
    steps, counts = found.steps, processor.counts()
    if steps is None or steps.exact is None:
        return [name, f"0 of {len(found.runs)}", *["-"] * 6]
    exact = f"{steps.exact.value:.5f} ({steps.exact.low:.5f} to {steps.exact.high:.5f})"
    return [
        *(name, f"{steps.runs} of {len(found.runs)}", f"{steps.whole} of {steps.runs}", f"{steps.judged:,}"),
        *(exact, f"{steps.longest:,}", f"{counts['operations']:,}", f"{counts['windows']:,}"),
    ]


def _speeds(folder: Path) -> Iterator[list[str]]:
    """Of the machine with its model alone: no recording beside it."""
    long = next(iter(Recordings(folder / "runs" / "long-binary-counter"))).program
    many = [one.program for one in Recordings(folder / "runs" / "generated-levels-1-3")]
    for name, programs, remember in (
        ("one long run, results and windows remembered", [long], True),
        ("many programs, results and windows remembered", many, True),
        ("many programs, every window computed anew", many[:100], False),
    ):
        processor = Processor(folder / f"seed-{SEEDS[0]}", remember=remember)
        steps, started = 0, time.process_time()
        for program in programs:
            made = processor.machine()
            with suppress(Raised, OutsideLanguage):  # the steps until then count
                made.call_program(program.code, program.entry or "", program.arguments or "()")
            steps += made.made
        yield [name, f"{steps / (time.process_time() - started):,.0f} ({steps:,} steps)"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", action="append", help="a published set, as cruxeval=FILE")
    parser.add_argument("--ship", action="store_true")
    parser.add_argument("--only", choices=PARTS)
    options = parser.parse_args()
    for part in PARTS:
        if options.only in (None, part):
            globals()[part](options.folder, options)


if __name__ == "__main__":
    main()
