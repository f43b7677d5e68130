"""Notebooks: replay and check beside nbclient, kernels that are hard to look at, long trajectories.

    python benchmarks/notebooks.py --folder NOTEBOOKS [--reps 3] [--most-s 20] [--limit N]
    python benchmarks/notebooks.py --folder NOTEBOOKS --publish lab/benchmarks.md
    python benchmarks/notebooks.py --parts check [--folder NOTEBOOKS] [--reps 5]
    python benchmarks/notebooks.py --parts state,long [--executions 10000]

replay: the notebooks below NOTEBOOKS that run without a cell at its limit and whose every cell gives the same
text in two fresh kernels, in at most --most-s seconds. They are found by running them twice (kept in --runs,
which the next call reads). Each is run by nbclient and by deskcheck in turn, --reps times; the time of a run
is that of everything: the kernel's start, its end, saving. The time of a cell is from its start to the start
of the next one, seen from outside, so that it has what is done between them.

check: CPU time of `deskcheck notebooks check --runs 1`, with all its processes, beside that of nbclient for
the same notebooks, in turn, --reps times. Once with a process for all notebooks, and once with a process for
each, where nbclient's is `jupyter execute`. Then that of `deskcheck record`, which runs each notebook twice
and keeps its states. The notebooks are those of --folder; without it six of one small cell.

state: kernels that hold what inspectors of variables hang on; what a look at them after a cell takes, as the
kernel measures it by the clock and another process by CPU time, and how long small cells take from outside
with the state and without.

long: a trajectory of so many executions is replayed, stopped in the middle by its caller and gone on with;
the memory of this process and of the kernel is measured along the way.
"""

import argparse
import datetime
import itertools
import json
import multiprocessing
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from benchmarks._page import machine, table
from deskcheck.notebook import (
    NotebookSettings,
    ReplayLimits,
    SandboxKernels,
    StateLimits,
    Status,
    Trajectory,
    read_notebook,
    replay,
)
from deskcheck.notebook.kernel.kernel import Kernel, Surroundings
from deskcheck.notebook.kernel.record import record_notebooks
from deskcheck.notebook.state.capture import Capture
from deskcheck.notebook.trajectory.file import read_trajectory
from deskcheck.notebook.trajectory.ipynb import notebook_files
from deskcheck.notebook.trajectory.trajectory import SUFFIX, Cell, Ended, Execution, Restart
from deskcheck.sandbox import Confinement, Limits

LIMITS = ReplayLimits(cell_s=60, notebook_s=300)


# -- replay beside nbclient ------------------------------------------------------------------------


def repeatable(folder: Path, runs: Path, most_s: float, workers: int) -> list[Path]:
    """The notebooks that give the same in two fresh runs, each within the time."""
    record_notebooks([f"notebooks:{folder}"], runs, NotebookSettings(limits=LIMITS), workers=workers)
    found = []
    for path in notebook_files(folder):
        recorded = runs / (str(path.relative_to(folder).with_suffix("")) + SUFFIX)
        if not recorded.exists():
            continue  # it cannot be read, or is not for Python
        trajectory = read_trajectory(recorded)
        executions = list(trajectory.executions)
        if (
            executions
            and trajectory.ended is Ended.WHOLE
            and all(step.repeats and step.status in (Status.OK, Status.ERROR) for step in executions)
            and sum(step.wall_s or 0.0 for step in executions) <= most_s
        ):
            found.append(path)
    return found


@dataclass(frozen=True, slots=True)
class Timed:
    """A run of a notebook. total_s: of everything. cells_s: from the start of a cell to that of the next."""

    total_s: float
    cells_s: tuple[float, ...]


def by_nbclient(path: Path, folder: Path, scratch: Path) -> Timed:
    """As its documentation shows, going on after errors; in a copy of the folder, as ours."""
    import nbformat
    from nbclient import NotebookClient

    starts: list[float] = []
    began = time.perf_counter()
    shutil.copytree(
        folder, scratch, ignore=shutil.ignore_patterns(".git", "__pycache__", ".ipynb_checkpoints")
    )
    book = nbformat.read(path, as_version=4)
    client = NotebookClient(
        book,
        allow_errors=True,
        timeout=60,
        kernel_name="python3",
        resources={"metadata": {"path": str(scratch / path.parent.relative_to(folder))}},
        on_cell_execute=lambda cell, cell_index: starts.append(time.perf_counter()),
        on_notebook_complete=lambda notebook: starts.append(time.perf_counter()),
    )
    client.execute()
    nbformat.write(book, scratch / "out.ipynb")
    ended = time.perf_counter()
    return Timed(ended - began, tuple(b - a for a, b in itertools.pairwise(starts)))


def by_us(path: Path, folder: Path, scratch: Path, confinement: Confinement) -> Timed:
    """With the state of every variable after each cell, into a file."""
    scratch.mkdir()
    began = time.perf_counter()
    found = replay(
        read_notebook(path),
        scratch / "out.trajectory.parquet",
        kernels=SandboxKernels(confinement, Surroundings(folder)),
        limits=LIMITS,
        state=StateLimits(),
    )
    total = time.perf_counter() - began
    steps = list(found.executions)
    starts = [step.at or 0.0 for step in steps]
    last = (steps[-1].end or 0.0) - starts[-1]
    return Timed(total, (*(b - a for a, b in itertools.pairwise(starts)), last))


def compared(options: argparse.Namespace) -> str:
    """The table of notebooks, and what follows from it."""
    paths = repeatable(options.folder, options.runs, options.most_s, options.workers)
    paths = paths[: options.limit]
    if not paths:
        sys.exit(f"{options.folder}: no notebook there is repeatable within {options.most_s:g} s.")
    theirs: dict[Path, list[Timed]] = {path: [] for path in paths}
    ours: dict[Path, list[Timed]] = {path: [] for path in paths}
    for rep in range(options.reps):
        for number, path in enumerate(paths):
            with tempfile.TemporaryDirectory() as scratch:
                turns = [
                    lambda path=path, at=Path(scratch, "a"): theirs[path].append(
                        by_nbclient(path, options.folder, at)
                    ),
                    lambda path=path, at=Path(scratch, "b"): ours[path].append(
                        by_us(path, options.folder, at, options.level)
                    ),
                ]
                # Whoever is second finds files in the page cache: they take turns in being it.
                for turn in turns if (rep + number) % 2 else reversed(turns):
                    turn()
            print(f"{rep + 1}/{options.reps} {path.stem}", file=sys.stderr)
    total = [
        (
            statistics.median(run.total_s for run in theirs[path]),
            statistics.median(run.total_s for run in ours[path]),
        )
        for path in paths
    ]
    added = [ms for path in paths for ms in _added_ms(theirs[path], ours[path])]
    added.sort()
    sums = [sum(each) for each in zip(*total, strict=True)]
    by_rep = [
        sum(ours[path][rep].total_s for path in paths) / sum(theirs[path][rep].total_s for path in paths)
        for rep in range(options.reps)
    ]
    rows = [
        ["notebooks, cells", f"{len(paths)}, {len(added)}", ""],
        ["nbclient, all, s", f"{sums[0]:.1f}", ""],
        [f"deskcheck with state, `{options.level}`, all, s", f"{sums[1]:.1f}", ""],
        ["ratio of the totals", f"{sums[1] / sums[0]:.3f}", "at most 1.10"],
        ["... in each repetition", ", ".join(f"{each:.3f}" for each in by_rep), ""],
        ["median of the notebooks' ratios", f"{statistics.median(b / a for a, b in total):.3f}", ""],
        ["added to a cell, median, ms", f"{statistics.median(added):.2f}", "at most 5"],
        ["... 90 % under, ms", f"{added[int(0.9 * (len(added) - 1))]:.2f}", ""],
    ]
    return table(["replay with state beside nbclient", "", "to reach"], rows)


def _added_ms(theirs: list[Timed], ours: list[Timed]) -> Iterator[float]:
    """What a cell takes longer under deskcheck, medians over the repetitions. Notebooks of which the two ran
    another number of cells are left out."""
    counts = {len(run.cells_s) for run in (*theirs, *ours)}
    if len(counts) > 1:
        return
    for number in range(counts.pop()):
        a, b = (statistics.median(run.cells_s[number] for run in runs) for runs in (theirs, ours))
        yield 1000 * (b - a)


# -- check beside nbclient -------------------------------------------------------------------------

ALL_BY_NBCLIENT = """
import pathlib, sys
import nbformat
from nbclient import NotebookClient
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.ipynb")):
    book = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(book, allow_errors=True, timeout=60, kernel_name="python3", resources=resources).execute()
    nbformat.write(book, str(path) + ".out")
"""


def six_notebooks(folder: Path) -> None:
    """Notebooks of one cell, so that nearly all of the time is that of starting and ending."""
    cell: dict[str, Any] = {
        "cell_type": "code",
        "source": "1 + 1",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    for number in range(6):
        (folder / f"n{number}.ipynb").write_text(json.dumps(book))


def cpu_s(commands: list[list[str]]) -> float:
    """User and system time of some commands and all that they waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode > 1:  # 1: outputs differ
            sys.exit(f"{shlex.join(command)}: exit status {done.returncode}: {done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def checked(options: argparse.Namespace) -> str:
    """The table of CPU times."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "notebooks")
        if options.folder is None:
            folder.mkdir()
            six_notebooks(folder)
        else:
            shutil.copytree(options.folder, folder, ignore=shutil.ignore_patterns(".git"))
        files = [str(path) for path in notebook_files(folder)]
        record = [sys.executable, "-m", "deskcheck", "record", f"notebooks:{folder}", "--sandbox"]
        record += [options.level.value, "--out", str(Path(scratch, "runs"))]
        check = [sys.executable, "-m", "deskcheck", "notebooks", "check", "--runs", "1", "--sandbox"]
        check.append(options.level.value)
        execute = [sys.executable, "-c", "from nbclient.cli import main; main()"]
        execute += ["--allow-errors", "--timeout=60"]
        ways = {
            "all in one": (
                [[sys.executable, "-c", ALL_BY_NBCLIENT, str(folder)]],
                [[*check, str(folder)]],
            ),
            "each in its own": (
                [[*execute, file] for file in files],
                [[*check, file] for file in files],
            ),
            "all in one, `record` with state, two runs": (
                [[sys.executable, "-c", ALL_BY_NBCLIENT, str(folder)]],
                [["rm", "-rf", record[-1]], record],
            ),
        }
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for rep in range(options.reps):
            for name, (theirs, ours) in ways.items():
                if rep % 2:
                    b, a = cpu_s(ours), cpu_s(theirs)
                else:
                    a, b = cpu_s(theirs), cpu_s(ours)
                found[name].append((a, b))
            print(f"{rep + 1}/{options.reps}", file=sys.stderr)
    rows = []
    for name, pairs in found.items():
        a, b = (statistics.median(each) for each in zip(*pairs, strict=True))
        ratios = sorted(b / a for a, b in pairs)
        spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
        rows.append([name, f"{a:.2f}", f"{b:.2f}", f"{statistics.median(ratios):.2f}", spread])
    own = f"deskcheck, `{options.level}`, CPU, s"
    heads = [f"{len(files)} notebooks, processes", "nbclient, CPU, s", own]
    return table([*heads, "ratio, median", "least and most"], rows)


# -- kernels that are hard to look at --------------------------------------------------------------

HARD = {
    "a list of 10^7 integers": "big = list(range(10**7))",
    "a frame of 10^7 rows, 3 columns": (
        "import numpy, pandas\n"
        "big = pandas.DataFrame({'a': numpy.arange(10**7), 'b': numpy.random.rand(10**7), 'c': 'x'})"
    ),
    "10^5 variables": "globals().update({f'v{n}': [n] for n in range(10**5)}); big = v7",
    "a cyclic graph of 10^6 nodes": (
        "class Node: pass\nnodes = [Node() for _ in range(10**6)]\n"
        "for i, node in enumerate(nodes): node.next, node.back = nodes[(i * 7 + 1) % 10**6], nodes[i - 1]\n"
        "big = nodes[0]; del i, node"
    ),
    "an object whose `__repr__` sleeps": (
        "import time\nclass Slow:\n    def __repr__(self): time.sleep(60)\n"
        "big = Slow(); many = [Slow() for _ in range(1000)]"
    ),
}
TOUCH = ("1", "1", "other = 1", "other = [big]", "1", "del other", "1", "1", "name = big", "1")


def look_cpu_ms(source: str) -> list[float]:
    """CPU time of the looks after a cell that makes the variables and after each that follows it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("", names)
    hidden = dict(names)
    capture = Capture(StateLimits())
    found = []
    for cell in (source, *TOUCH):
        exec(cell, names)
        began = time.thread_time()
        capture.after_cell(names, hidden, cell)
        found.append(1000 * (time.thread_time() - began))
    return found


def hard(reps: int) -> str:
    """What the state of each costs after a cell."""
    limits = Limits(cpu_s=1000, wall_s=2000, memory_bytes=16 << 30, output_bytes=1 << 20)
    rows = []
    for name, source in HARD.items():
        first: list[float] = []
        later: list[float] = []
        outside: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(reps):
            for with_state in (True, False):
                state = StateLimits() if with_state else None
                with Kernel(limits=limits, state=state) as kernel:
                    made = kernel.run(source, cell_s=300)
                    if made.status is not Status.OK:
                        sys.exit(f"{name}: {made.status} {made.detail} {made.outputs}")
                    for cell in TOUCH:
                        ran = kernel.run(cell)
                        assert ran.status is Status.OK
                        assert ran.at is not None
                        assert ran.end is not None
                        outside[with_state].append(1000 * (ran.end - ran.at))
                        if ran.state is not None:
                            later.append(1000 * ran.state["cost_s"])
                    if made.state is not None:
                        first.append(1000 * made.state["cost_s"])
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as other:
            looks = [other.submit(look_cpu_ms, source).result() for _ in range(reps)]
        rows.append(
            [
                name,
                f"{max(each[0] for each in looks):.1f}",
                f"{max(ms for each in looks for ms in each[1:]):.1f}",
                f"{max(first):.1f}",
                f"{statistics.median(later):.1f}",
                f"{max(later):.1f}",
                f"{statistics.median(outside[True]):.1f}",
                f"{statistics.median(outside[False]):.1f}",
            ]
        )
        print(name, file=sys.stderr)
    heads = ["kernel holds", "first look, CPU, most, ms", "later, CPU, most", "first, clock, most"]
    heads += ["later, median", "later, most", "a cell from outside", "... without state"]
    return table(heads, rows)


# -- long trajectories -----------------------------------------------------------------------------


def long(executions: int) -> str:
    """One of so many executions, stopped half-way and gone on with."""
    cell = Cell(id="a", source="n = globals().get('n', 0) + 1; n")
    step = Execution(cell="a", source=cell.source, order=("a",), status=Status.UNKNOWN)
    given = Trajectory(id="long", source="benchmark", cells=(cell,), steps=[step] * executions)
    limits = replace(LIMITS, notebook_s=3600)
    with tempfile.TemporaryDirectory() as folder, _Memory() as memory:
        path = Path(folder, f"long{SUFFIX}")
        part = path.with_name(path.name + ".part")
        asked, every = itertools.count(1), max(5, executions // 100)
        began = time.perf_counter()
        try:
            replay(
                given,
                path,
                limits=limits,
                state=StateLimits(),
                interrupted=lambda: next(asked) % every == 0 and _lines(part) > executions // 2,
            )
            sys.exit("the replay was to be stopped and was not")
        except KeyboardInterrupt:
            half_s = time.perf_counter() - began
        done = _lines(part) - 1
        began = time.perf_counter()
        found = replay(given, path, limits=limits, state=StateLimits())
        rest_s = time.perf_counter() - began
        again = sum(each.again for each in found.steps if isinstance(each, Restart))
        kernel = [each.memory_after or 0 for each in found.executions]
        last = list(found.executions)[-1].outputs[0].data["text/plain"]
        size = path.stat().st_size
    if (len(kernel), last) != (executions, str(executions)):
        sys.exit(f"{len(kernel)} executions, and the last shows {last}")
    tenths = [kernel[round(k * (executions - 1) / 10)] / (1 << 20) for k in range(11)]
    rows = [
        ["the last cell counts", last],
        ["stopped after", str(done)],
        ["run again, unrecorded, to go on", str(again)],
        ["the first half, s; what was run again and the rest, s", f"{half_s:.1f}; {rest_s:.1f}"],
        ["resident in the recorder, in tenths of the time, MiB", memory.tenths()],
        ["resident in the kernel, in tenths of the executions, MiB", ", ".join(f"{m:.0f}" for m in tenths)],
        ["the file, MiB", f"{size / (1 << 20):.2f}"],
    ]
    return table([f"a trajectory of {executions:,} executions", ""], rows)


class _Memory:
    """Looks at what is resident of this process, twice a second while it lasts."""

    def __init__(self) -> None:
        self.seen: list[float] = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self.over.wait(0.5):
            self.seen.append(_resident_mib())

    def __enter__(self) -> "_Memory":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()

    def tenths(self) -> str:
        last = len(self.seen) - 1
        return ", ".join(f"{self.seen[round(k * last / 10)]:.0f}" for k in range(11))


def _load() -> str:
    return ", ".join(f"{each:.1f}" for each in os.getloadavg())


def _lines(path: Path) -> int:
    with open(path, "rb") as stream:
        return sum(1 for _ in stream)


def _resident_mib() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


PARTS = ("replay", "check", "state", "long")


def published(text: str, file: Path, part: str) -> str:
    """The page with this text between the markers of a part. Exits where it has none."""
    begin_line = f"<!-- notebooks, {part}: written by benchmarks/notebooks.py -->"
    end_line = f"<!-- end of notebooks, {part} -->"
    before, begin, rest = file.read_text(encoding="utf-8").partition(begin_line)
    _, end, after = rest.partition(end_line)
    if not begin or not end:
        sys.exit(f"{file}: it has no lines {begin_line!r} and {end_line!r}, between which a table goes.")
    return f"{before}{begin_line}\n\n{text}\n{end_line}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS), help="of these, separated by commas")
    parser.add_argument("--folder", type=Path, help="notebooks; needed for replay")
    parser.add_argument("--runs", type=Path, help="keep here which of them are repeatable")
    parser.add_argument("--workers", type=int, default=2, help="that find it out")
    parser.add_argument("--most-s", type=float, default=20.0, help="notebooks that take longer are left out")
    parser.add_argument("--limit", type=int, help="the first so many of them")
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--level", type=Confinement, default=Confinement.STRICT)
    parser.add_argument("--executions", type=int, default=10_000, help="of the long trajectory")
    parser.add_argument("--publish", type=Path, metavar="FILE", help="write the tables into this page")
    options = parser.parse_args()
    parts = options.parts.split(",")
    if not {*parts} <= {*PARTS}:
        parser.error(f"--parts {options.parts}: known are {', '.join(PARTS)}")
    if "replay" in parts and (options.folder is None or not options.folder.is_dir()):
        parser.error("replay needs --folder, a folder of notebooks")
    if options.publish:
        for part in parts:
            published("", options.publish, part)  # finds out now whether it can be done in the end
    source = str(Path(__file__).resolve().parents[1] / "src")
    os.environ["PYTHONPATH"] = source + os.pathsep + os.environ.get("PYTHONPATH", "")
    with tempfile.TemporaryDirectory() as folder:
        options.runs = options.runs or Path(folder)
        for part in parts:
            text = _measured(part, options)
            if options.publish:
                page = published(text + "\n", options.publish, part)
                options.publish.write_text(page, encoding="utf-8")
            else:
                print(text, end="\n\n")


def _measured(part: str, options: argparse.Namespace) -> str:
    """The table of a part, with how it came about."""
    before = _load()
    if part == "replay":
        made = compared(options)
    elif part == "check":
        made = checked(options)
    else:
        made = hard(options.reps) if part == "state" else long(options.executions)
    command = shlex.join(["python", "benchmarks/notebooks.py", *sys.argv[1:]])
    for path in (options.folder, options.runs):
        command = command.replace(str(path), "...") if path else command
    versions = [f"{name} {metadata.version(name)}" for name in ("ipykernel", "nbclient", "jupyter_client")]
    about = f"{machine()}; CPython {sys.version.split()[0]}; {', '.join(versions)}"
    often = "once" if part == "long" else f"{options.reps} repetitions"
    return "\n\n".join(
        [
            f"Run {datetime.date.today()} by `{command}`: {often}.",
            f"Machine: {about}; load {before} before, {_load()} after.",
            made,
        ]
    )


if __name__ == "__main__":
    main()
