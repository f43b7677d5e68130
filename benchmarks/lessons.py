"""How fast lessons are made of recordings, and in how much memory.

    python -m benchmarks.lessons                       10^5 and 10^6 events, some minutes
    python -m benchmarks.lessons --events 100000 --reps 3

Two folders are recorded for each size: one with a single run of so many events, and one with many runs of a
few hundred to some thousand. Each is then made into lessons in a process of its own, with tokens and without;
CPU time counts, from the start of `build` to its end, and the process's peak memory. Beside them, on the same
recordings: the states alone, by `RunningTexts`, and the plain way, `transitions(moments(...))`, which only
pairs texts and writes nothing.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from deskcheck.notation import RunningTexts, moments, transitions
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Mode, Program
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.teach.lessons.lessons import LessonSettings, build
from deskcheck.tracer import TraceLimits

COUNTER = """def f(n, width):
    bits = [0] * width
    for _ in range(n):
        i = 0
        while i < width and bits[i] == 1:
            bits[i] = 0
            i += 1
        if i < width:
            bits[i] = 1
    return bits
"""
COLLATZ = """def f(n):
    s = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        s += 1
    return s
"""
FIB = """def f(n):
    if n < 2:
        return n
    return f(n - 1) + f(n - 2)
"""
SORT = """def swap(row, i, j):
    row[i], row[j] = row[j], row[i]


def f(row):
    for i in range(len(row)):
        for j in range(len(row) - 1 - i):
            if row[j] > row[j + 1]:
                swap(row, j, j + 1)
    return row
"""
DEEP = """def f(n):
    if n == 0:
        return 0
    m = f(n - 1)
    return m + 1
"""
ROWS = """def f(n):
    rows = [[i * j for j in range(8)] for i in range(8)]
    for k in range(n):
        for row in rows:
            row[k % 8] += k
        rows = rows[1:] + rows[:1]
    return rows
"""
WORDS = """def f(text):
    count = {}
    for word in text.split():
        word = word.strip('.,').lower()
        count[word] = count.get(word, 0) + 1
    best = sorted(count.items(), key=lambda item: (-item[1], item[0]))
    return best[:3]
"""
TEXT = "The quick brown fox, the lazy dog and the other fox. " * 8
WAYS = ("lessons", "lessons without tokens", "states", "plain")


def one_long(events: int) -> list[Program]:
    """A single run of at least so many events."""
    return [_call("counter", COUNTER, f"({events // 8 + 1}, 20)")]


def many(events: int) -> Iterator[Program]:
    """Runs of different programs, about so many events in all."""
    kinds = [
        (COLLATZ, "({0})", 700),
        (COUNTER, "({0} % 50 + 20, 8)", 400),
        (FIB, "({0} % 3 + 8)", 500),
        (SORT, "([(k * {0}) % 97 for k in range(16)])", 450),
        (DEEP, "({0} % 60 + 20)", 250),
        (ROWS, "({0} % 20 + 10)", 500),
        (WORDS, f"({TEXT!r} + '{{0}}')", 350),
    ]
    number = made = 0
    while made < events:
        code, arguments, size = kinds[number % len(kinds)]
        # A constant in a comment: another program, as far as lessons are concerned.
        own = f"{code}# {number // 50}\n"
        yield _call(f"{number}", own, arguments.format(2900 + number))
        number += 1
        made += size


def _call(id_: str, code: str, arguments: str) -> Program:
    return Program(
        id=id_, code=code, mode=Mode.CALL, entry="f", arguments=arguments, train_ok=True, source="benchmark"
    )


def measure(way: str, folder: Path) -> dict[str, float]:
    """Steps, CPU seconds and peak MiB of this process."""
    began = time.process_time()
    steps = 0
    if way in ("states", "plain"):
        for recording in Recordings(folder):
            file = recording.program.filename
            if way == "plain":
                steps += sum(1 for _ in transitions(moments(recording.trace, file=file)))
                continue
            states = RunningTexts(file=file)
            for row in recording.trace.rows:
                if states.advance(row):
                    states.text()
                    steps += 1
    else:
        with tempfile.TemporaryDirectory() as out:
            settings = LessonSettings(ids=way == "lessons", budget=100_000)
            summary = build([folder], Path(out) / "out", settings)
            steps = summary.events - summary.recordings
    return {
        "steps": steps,
        "cpu_s": time.process_time() - began,
        "MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each folder and way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--reps", type=int, default=3, help="measurements of each; the median counts")
    parser.add_argument("--recordings", nargs="+", choices=["one", "many"], default=["one", "many"])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--measure", nargs=2, metavar=("WAY", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.measure:
        print(json.dumps(measure(given.measure[0], Path(given.measure[1]))))
        return
    print(f"{'recordings':<22} {'events':>9}  {'way':<22} {'steps a CPU s':>13} {'peak MiB':>9}")
    with tempfile.TemporaryDirectory() as place:
        for events in given.events:
            for kind in given.recordings:
                name = f"{kind} {'run' if kind == 'one' else 'runs'}"
                programs = one_long(events) if kind == "one" else many(events)
                folder = Path(place) / f"{name} {events}"
                limits = TraceLimits(events=2 * events)
                record_programs(
                    programs,
                    folder,
                    RecordSettings(repeat=False, sandbox=Confinement.TRUSTED, trace_limits=limits),
                )
                count = sum(len(recording.trace) for recording in Recordings(folder))
                for way in given.ways:
                    found = [_apart(way, folder) for _ in range(given.reps)]
                    speed = statistics.median(one["steps"] / one["cpu_s"] for one in found)
                    memory = max(one["MiB"] for one in found)
                    print(f"{name:<22} {count:>9,}  {way:<22} {speed:>13,.0f} {memory:>9.0f}", flush=True)


def _apart(way: str, folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.lessons", "--measure", way, str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
