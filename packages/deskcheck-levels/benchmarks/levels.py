"""deskcheck-nano at the levels `processor` and `reader`, from nothing, and its card's figures.

    python -m benchmarks.levels FOLDER [--set cruxeval=FILE] [--ship [NANO]] [--only PART] [--quick]

Parts: check (10,000 steps of the lessons against recordings), training (the processor with three seeds, the
reader with one), recordings, figures. Everything is kept in the folder; the same command goes on from there.
`--ship` puts the models of the first seed into the package, or into another folder with a card, and renews
that card: the tables between its marks, and the figures in its text. A set that has a row in the card must
be given, or its row would be of another model.
`--quick` does all of it with little: one seed, trainings that are far from done, few programs. What comes of
it shows that the command works, and goes into the package never.

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

from benchmarks.lesson_steps import TAUGHT, compared, record_steps
from deskcheck_levels.levels import table as levels_table
from deskcheck_levels.machine.frames import OutsideLanguage, ProgramRaised, StepsSpent
from deskcheck_levels.paper.working import UnreadableWorking
from deskcheck_levels.processor import network
from deskcheck_levels.processor.network import FILE
from deskcheck_levels.processor.stepping import LevelReport, Processor, run_level
from deskcheck_levels.reader import network as reader_network
from deskcheck_levels.reader.stepping import ReaderModels
from deskcheck_levels.shipped import folder_of

from benchmarks._commands import run
from benchmarks._page import machine, table
from deskcheck.ask.results.statistics import bounds_text
from deskcheck.recording.reader import Recordings

NANO = folder_of("nano")
CARD = "card.md"
PARTS = ("check", "training", "recordings", "figures")
SEEDS = (0, 1, 2)
CHECKED = 10_000
MOST_STEPS = 1_000_000
"""Of a run; a model that computes wrongly may never leave a loop."""
READ = "generated:12000,difficulty=1-10"
"""The source whose lines the reader is taught, beside lines that are drawn."""
QUICK_UPDATES, QUICK_BATCH, QUICK_CHECKED = 300, 512, 400
QUICK_READER = ("--steps", "20", "--layers", "1", "--hidden-size", "32")
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


QUICK_SOURCES = {
    "generated, levels 1-3": "generated:20,difficulty=1-3,inputs=1,seed=9001",
    "long: binary_counter": "family:binary_counter,inputs=1,seed=3,texts=3,events=2000",
}


def folder_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def check(folder: Path, options: argparse.Namespace) -> None:
    """Single steps of the lessons against recordings."""
    steps = QUICK_CHECKED if options.quick else CHECKED
    record_steps(folder / "lesson-steps", steps, seed=7)
    of_operations, of_lines, wrong = compared(folder / "lesson-steps", steps)
    print(f"{of_operations + of_lines:,} steps of the lessons held against recordings: {len(wrong)} differ")
    if wrong:
        raise SystemExit(f"a lesson is wrong: {wrong[0]}")


def training(folder: Path, options: argparse.Namespace) -> None:
    """The models from nothing, by one command each."""
    updates = ["--steps", str(QUICK_UPDATES), "--batch-size", str(QUICK_BATCH)] if options.quick else []
    for seed in _seeds(options):
        out = folder / f"seed-{seed}"
        run("teach", "--steps-of", TAUGHT, "--seed", str(seed), "--out", str(out), *updates)
    read, little = (READ.replace("12000", "100"), QUICK_READER) if options.quick else (READ, ())
    run("teach", "--steps-of", read, "--level", "reader", "--out", str(folder / "reader"), *little)


def _seeds(options: argparse.Namespace) -> tuple[int, ...]:
    return SEEDS[:1] if options.quick else SEEDS


def recordings(folder: Path, options: argparse.Namespace) -> None:
    """What is measured on."""
    for name, source in _sources(options):
        out = folder / "runs" / folder_name(name)
        if not out.exists():
            run("record", source, "--out", str(out), "--sandbox", "trusted", "--no-repeat")


def _sources(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    yield from (QUICK_SOURCES if options.quick else SOURCES).items()
    for given in options.set or ():
        name, _, file = given.partition("=")
        yield name, f"{name}:{file}"


def figures(folder: Path, options: argparse.Namespace) -> None:
    """The tables of the card."""
    lines, read = [], []
    told: dict[str, object] = {"machine": machine()}
    for name, _ in _sources(options):
        recorded = Recordings(folder / "runs" / folder_name(name))
        processor = Processor(folder / f"seed-{SEEDS[0]}", judged=True)
        found = run_level(recorded, processor.machine, budget=MOST_STEPS)
        told[name] = found.to_dict() | {"asked": processor.counts()}
        counts = processor.counts()
        lines.append(
            [
                *_line(name, found),
                *(f"{counts['operations']:,}", f"{counts['windows']:,}"),
                *(f"{counts['wrong_workings']:,} of {counts['worked']:,}", f"{counts['lucky']:,}"),
            ]
        )
        print(" | ".join(lines[-1]), flush=True)
        reader = ReaderModels(folder / "reader", folder / f"seed-{SEEDS[0]}")
        found = run_level(recorded, reader.machine, budget=MOST_STEPS)
        told[f"{name}, reader"] = found.to_dict() | {"asked": reader.counts()}
        read.append([*_line(name, found), f"{reader.counts()['prompts']:,}"])
        print(" | ".join(["reader", *read[-1]]), flush=True)
    head = ["measured on", "runs inside", "right to the end", "steps", "exact", "longest"]
    more = ["operations", "distinct windows", "worked wrongly", "right by wrong working"]
    tables = [
        *("Level `processor`:", table([*head, *more], lines)),
        *("Level `reader`:", table([*head, "distinct prompts"], read)),
    ]
    seeds = []
    for seed in _seeds(options):
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
    if options.ship is not None:
        ship(folder / f"seed-{SEEDS[0]}" / FILE, folder / "reader" / reader_network.FILE, options.ship, page)


def ship(model: Path, reader: Path, nano: Path, page: str) -> None:
    """The models, and the card with the tables and with the figures of its text."""
    shipped, read = network.load(model), reader_network.load(reader)
    for file, wrong in ((model, shipped.about["wrong"]), (reader, read.about["wrong_ways"])):
        if wrong and nano == NANO:
            raise SystemExit(f"{file}: is wrong at {wrong} of its windows or ways: not a model to ship")
    facts = {
        "parameters": f"{shipped.parameters:,}",
        "megabytes": f"{model.stat().st_size / 1e6:.1f} MB",
        "windows": f"{shipped.about['windows']:,}",
        "wrong": f"{shipped.about['wrong']:,}",
        "lead": f"{shipped.about['least_lead']:.1f}",
        "reader parameters": f"{read.parameters:,}",
        "reader megabytes": f"{reader.stat().st_size / 1e6:.1f} MB",
        "ways": f"{read.about['ways']:,}",
        "wrong ways": f"{read.about['wrong_ways']:,}",
        "wrong lines": f"{read.about['wrong']:,} of {read.about['of']:,}",
    }
    card = (nano / CARD).read_text("utf-8")
    for name, value in facts.items():
        card, times = re.subn(rf"(<!-- {name} -->).*?(<!-- / -->)", rf"\g<1>{value}\g<2>", card)
        if not times:
            raise SystemExit(f"{nano / CARD}: has no place for {name}: <!-- {name} --><!-- / -->")
    before, rest = card.split(BEGIN)
    after = rest.split(END)[1]
    text = f"{before}{BEGIN}\n\n{levels_table()}\n\n{page}\n\n{END}{after}"
    shutil.copy(model, nano / FILE)
    shutil.copy(reader, nano / reader_network.FILE)
    (nano / CARD).write_text(text, "utf-8")


def sets_in_card(nano: Path) -> set[str]:
    """Published sets that have a row in the tables of a card."""
    figures = (nano / CARD).read_text("utf-8").split(BEGIN)[1].split(END)[0]
    measured = figures.split("| measured on")[1].split("\n\n")[
        0
    ]  # the processor's; the reader's has the same
    names = {row.split("|")[1].strip() for row in measured.splitlines()[2:]}
    return names - set(SOURCES)


def _line(name: str, found: LevelReport) -> list[str]:
    steps = found.steps
    if steps is None or steps.exact is None:
        return [name, f"0 of {len(found.runs)}", *["-"] * 4]
    exact = f"{steps.exact.value:.5f} ({bounds_text(steps.exact.low, steps.exact.high, form='.5f')})"
    whole = f"{steps.whole} of {steps.runs}"
    return [
        name,
        f"{steps.runs} of {len(found.runs)}",
        whole,
        f"{steps.judged:,}",
        exact,
        f"{steps.longest:,}",
    ]


def _speeds(folder: Path) -> Iterator[list[str]]:
    """Of the machine with its model alone: no recording beside it."""
    long = next(iter(Recordings(folder / "runs" / "long-binary-counter"))).program
    many = [one.program for one in Recordings(folder / "runs" / "generated-levels-1-3")]
    seed, read = folder / f"seed-{SEEDS[0]}", folder / "reader"
    for name, programs, make in (
        ("processor: one long run, results and windows remembered", [long], lambda: Processor(seed)),
        ("processor: many programs, results and windows remembered", many, lambda: Processor(seed)),
        (
            "processor: many programs, every window computed anew",
            many[:100],
            lambda: Processor(seed, remember=False),
        ),
        ("reader: one long run", [long], lambda: ReaderModels(read, seed)),
        ("reader: many programs", many, lambda: ReaderModels(read, seed)),
    ):
        models: Processor | ReaderModels = make()
        if network.load(seed / FILE).about["wrong"]:
            yield [name, "- (the model is wrong)"]
            continue
        steps, started = 0, time.process_time()
        for program in programs:
            made = models.machine(None, MOST_STEPS)
            with suppress(
                ProgramRaised, OutsideLanguage, StepsSpent, UnreadableWorking
            ):  # the steps until then count
                made.call_program(program.code, program.entry or "", program.arguments or "()")
            steps += made.line_events
        yield [name, f"{steps / (time.process_time() - started):,.0f} ({steps:,} steps)"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", action="append", help="a published set, as cruxeval=FILE")
    parser.add_argument("--ship", nargs="?", type=Path, const=NANO, metavar="NANO")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick and options.ship == NANO:
        parser.error("--quick: its model is not one to ship. Give --ship another folder, with a card.")
    given = {one.partition("=")[0] for one in options.set or ()}
    missing = sets_in_card(options.ship) - given if options.ship is not None and not options.quick else set()
    if missing:
        parser.error(f"the card has figures of {', '.join(sorted(missing))}: give --set {min(missing)}=FILE")
    for part in PARTS:
        if options.only in (None, part):
            globals()[part](options.folder, options)


if __name__ == "__main__":
    main()
