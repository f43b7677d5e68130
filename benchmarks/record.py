"""What recording costs, side by side with other tracers: time, bytes and memory, and what each tracer shows.

    python benchmarks/record.py
    python benchmarks/record.py --python 3.11=PATH --python 3.12=PATH --publish lab/benchmarks.md
    python benchmarks/record.py --programs FILE_OR_FOLDER ... --parts lines --size SMALL --reps 3 --json

Every measurement is made in a new process (_measure.py) of the interpreter that it is about, the tracers
in turn. Not: what starting a process or importing costs. lab/benchmarks.md says how to read the tables.
"""

import argparse
import ast
import datetime
import itertools
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from benchmarks._names import (
    BLOCKS,
    COUNTED,
    ET,
    FAST,
    INSTALL,
    INSTRUCTIONS,
    LINES,
    PARQUET,
    SLOW,
    SLOW_REPS,
)
from benchmarks._page import BEGIN, END, page, published, summaries, with_ratios

PATIENCE_S = 1800
ERROR_CHARS = 200

Row = dict[str, Any]
Job = dict[str, Any]


def programs(given: list[Path]) -> list[Path]:
    """The files given, and in folders those that define main."""
    found: list[Path] = []
    for path in given:
        if path.is_dir():
            files = sorted(path.glob("[!_]*.py"))
            found += [file for file in files if "\ndef main(" in file.read_text(encoding="utf-8")]
        elif path.is_file():
            found.append(path)
        else:
            sys.exit(f"{path}: there is no such file or folder. Give programs that define main(n) and sizes.")
    if not found:
        sys.exit(f"{', '.join(map(str, given))}: no file here defines main(n).")
    return [path.resolve() for path in found]


def names_in(file: Path) -> set[str]:
    """The names that a program's top level gives values, its sizes among them."""
    try:
        body = ast.parse(file.read_text(encoding="utf-8")).body
    except SyntaxError:  # running it will say so
        return set()
    targets = [node.targets for node in body if isinstance(node, ast.Assign)]
    return {n.id for each in targets for t in each for n in ast.walk(t) if isinstance(n, ast.Name)}


def measured(python: str, what: Job) -> Row:
    """What a process of that interpreter measures. Raises RuntimeError with the last line of its errors."""
    try:
        done = subprocess.run(
            [python, "-m", "benchmarks._measure", json.dumps(what)],
            cwd=HERE.parent,
            env=os.environ | {"PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"not done after {PATIENCE_S} seconds") from None
    except OSError as error:
        raise RuntimeError(str(error)) from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        raise RuntimeError(last if len(last) <= ERROR_CHARS else f"{last[:ERROR_CHARS]} ...")
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def interpreters(given: list[str]) -> tuple[dict[str, str], dict[str, Row]]:
    """By label, the paths of the interpreters and what they say about themselves."""
    paths, about = {}, {}
    for each in given or [sys.executable]:
        label, named, path = each.rpartition("=")
        path = os.path.abspath(path) if os.sep in path else path  # but a link in it is what makes it a venv
        try:
            found = measured(path, {"measure": "about"})
        except RuntimeError as error:
            sys.exit(
                f"{path} cannot measure deskcheck ({error}). Install it there: pip install -e '.[bench]'"
            )
        label = label if named else ".".join(found["python"].split(".")[:2])
        paths[label], about[label] = path, found
    return paths, about


def jobs(options: argparse.Namespace, files: list[Path], about: dict[str, Row]) -> Iterator[Job]:
    """What is to be measured, repetition by repetition, the tracers one after another."""
    for rep in range(options.reps):
        for python, each in about.items():
            tracers = [name for name in options.tracers if each["available"][name]]
            tracers = [name for name in tracers if rep < SLOW_REPS or name not in SLOW]
            turn = Turn(options, files, tracers, each["native"], rep)
            for part in options.parts:
                for file, tracer, size, what in PARTS[part](turn):
                    names = {"program": file.stem, "tracer": tracer, "size": size}
                    yield {"part": part, "python": python, **names, "what": what}


class Turn(NamedTuple):
    """One repetition with one interpreter."""

    options: argparse.Namespace
    files: list[Path]
    tracers: list[str]
    native: bool
    rep: int


Cases = Iterator[tuple[Path, str, str, Job]]
"""Program, tracer, size, and what _measure.py is asked for."""


def costs(of: tuple[str, ...]) -> Callable[[Turn], Cases]:
    """Every program at the size for all, then ours at their own, where they are fast enough for it."""

    def cases(turn: Turn) -> Cases:
        sizes = dict.fromkeys((turn.options.size, turn.options.own_size))
        for file, size in itertools.product(turn.files, sizes):
            for tracer in turn.tracers:
                if tracer in of and (size == turn.options.size or (turn.native and tracer in FAST)):
                    yield file, tracer, size, asked("cost", file, tracer, size, turn.rep == 0)

    return cases


def outside(turn: Turn) -> Cases:
    size = turn.options.own_size
    for file, tracer in itertools.product(programs([HERE / "outside"]), (BLOCKS, ET)):
        if tracer in turn.tracers:
            yield file, tracer, size, asked("outside", file, tracer, size)


def memory(turn: Turn) -> Cases:
    """Of the native tracer alone: ten million events take the reference most of an hour."""
    able = [file for file in turn.files if {*TIMES_TEN} <= names_in(file)]
    for file, tracer, size in itertools.product(able, (BLOCKS, PARQUET), TIMES_TEN):
        if turn.native and not turn.rep and tracer in turn.tracers:
            yield file, tracer, size, asked("memory", file, tracer, size, True)


def probes(turn: Turn) -> Cases:
    for tracer in turn.tracers:
        if not turn.rep and tracer in LINES and tracer != PARQUET:  # which holds the same as the blocks
            what = {"measure": "probe", "tracer": tracer, "programs": str(HERE / "probes")}
            yield HERE / "probes", tracer, "ONCE", what


def asked(measure: str, file: Path, tracer: str, size: str, count: bool | None = None) -> Job:
    what = {"measure": measure, "tracer": tracer, "program": str(file), "size": size}
    return what if count is None else what | {"count": count and tracer in COUNTED}


PARTS: dict[str, Callable[[Turn], Cases]] = {
    "lines": costs(LINES),
    "instructions": costs(INSTRUCTIONS),
    "outside": outside,
    "memory": memory,
    "probes": probes,
}
TIMES_TEN = ("MILLION", "TEN_MILLION")


def command() -> str:
    """How this was started, without the paths of this machine."""
    words, given = ["python", "benchmarks/record.py"], iter(sys.argv[1:])
    for word in given:
        words.append(word)
        if word == "--python":
            label, named, _ = next(given).rpartition("=")
            words.append(f"{label}=python{label}" if named else "PATH")
    return shlex.join(words)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="LABEL=PATH",
        help="an interpreter that has deskcheck[bench]; may be given again; default: the one that runs this",
    )
    parser.add_argument(
        "--programs",
        nargs="+",
        type=Path,
        default=[HERE / "programs"],
        metavar="PATH",
        help="files, or folders of them, that define main(n) and sizes; default: benchmarks/programs",
    )
    parser.add_argument(
        "--parts", type=lambda text: text.split(","), default=list(PARTS), help=f"default: {','.join(PARTS)}"
    )
    parser.add_argument(
        "--tracers",
        type=lambda text: text.split(";"),
        default=(*LINES, *INSTRUCTIONS),
        help=f"separated by ';'; default: all of {'; '.join((*LINES, *INSTRUCTIONS))}",
    )
    parser.add_argument(
        "--size", default="SMALL", help="which of a program's sizes for every tracer; default: SMALL"
    )
    parser.add_argument(
        "--own-size", default="FULL", help="which for the native tracer as well; default: FULL"
    )
    parser.add_argument(
        "--reps", type=int, default=3, help="processes for each program and tracer; default: 3"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, with every single measurement")
    parser.add_argument("--publish", type=Path, metavar="FILE", help="write the figures into this page")
    options = parser.parse_args()
    if options.reps < 1:
        parser.error(f"--reps {options.reps} must be at least 1.")
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"--parts: unknown {', '.join(unknown)}; there are {', '.join(PARTS)}.")
    if unknown := set(options.tracers) - {*LINES, *INSTRUCTIONS}:
        parser.error(
            f"--tracers: unknown {'; '.join(unknown)}; there are {'; '.join((*LINES, *INSTRUCTIONS))}."
        )
    return options


def main() -> int:
    options = arguments()
    files = programs(options.programs)
    if options.publish:
        published("", options.publish, BEGIN, END)  # finds out now whether it can be done in the end
    notes: list[str] = []

    def note(text: str) -> None:
        if text not in notes:
            notes.append(text)
            print(text, file=sys.stderr)

    paths, about = interpreters(options.python)
    for python, each in about.items():
        for tracer, there in each["available"].items():
            if tracer in options.tracers and not there:
                note(
                    f"{tracer} is left out for Python {python}, since it is not installed: {INSTALL[tracer]}"
                )
    date, load = datetime.datetime.now(datetime.UTC).date().isoformat(), [os.getloadavg()[0]]
    todo = list(jobs(options, files, about))
    measurements: list[Row] = []
    status = done = 0
    try:
        for place, job in enumerate(todo):
            words = f"{job['program']} under {job['tracer']} at {job['size']} on Python {job['python']}"
            if sys.stderr.isatty():
                print(f"\r\033[K{place + 1}/{len(todo)} {words}", end="\r", file=sys.stderr)
            try:
                row = measured(paths[job["python"]], job["what"])
            except RuntimeError as error:
                note(f"{words}: {error}")
                continue
            done += 1
            if "unsupported" in row:
                note(f"{job['part']} are left out for Python {job['python']}: {row['unsupported']}")
                continue
            measurements.append({key: value for key, value in job.items() if key != "what"} | row)
    except KeyboardInterrupt:
        status = 130
    if done < len(todo):
        note(f"{done} of {len(todo)} measurements are done; these are theirs.")
        status = status or 1
    result = {
        "date": date,
        "command": command(),
        "about": about,
        "sizes": [options.size, options.own_size],
        "repetitions": options.reps,
        "load": [*load, os.getloadavg()[0]],
        "notes": notes,
        "measurements": measurements,
    }
    if options.json:
        print(json.dumps({**result, "rows": with_ratios(summaries(measurements))}, indent=1))
    elif not options.publish:
        print(page(result))
    if options.publish:
        options.publish.write_text(published(page(result), options.publish, BEGIN, END), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
