"""One measurement, in the process that it is made in.

Started by record.py with a JSON object, what to measure; prints one, what came out. Not: a comparison,
which is record.py's work. Times are CPU seconds of the whole process, its threads and its children.
"""

import importlib.metadata
import importlib.util
import json
import platform
import re
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import _tracers
from benchmarks.probes import choice
from deskcheck.recording.trace import Trace
from deskcheck.recording.value import render

UNTRACED_S, FEWEST, MOST = 0.2, 5, 1000
"""The untraced run is repeated for so long, within these numbers: some take only microseconds."""
TRACED_S, TRACED_RUNS = 3.0, 4
"""The traced run is repeated for so long, or so often. The first does not count if there are more."""
PAIRS = 7
"""How often `outside` runs a program without and with a tracer, in turn."""

FEATURES = {
    "alias in the frame": ("a", 77701),
    "through a dict": ("a", 77702),
    "by a callee": ("a", 77703),
    "in a nested list": ("nest", 77704),
    "attribute of an object": ("box", 77705),
}
"""Changes that probes/changes.py makes: the variable at which a tracer has to show which number."""

Row = dict[str, Any]


def cpu_s() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def peak_rss() -> int:
    """Bytes of memory that the process has had at most, since `forget_peak` if the kernel offers that."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def forget_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")  # man 5 proc: resets VmHWM
    except OSError:
        return


def load(path: Path) -> ModuleType:
    """A program as a module of its own, under a name that hides no library's."""
    spec = importlib.util.spec_from_file_location(f"program_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up their own module there
    spec.loader.exec_module(module)
    return module


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="deskcheck-bench-") as path:
        yield Path(path)


class Runs:
    """Runs of one program at one size, each checked for what it should return."""

    def __init__(self, tracer: str, program: str, size: str) -> None:
        self.record = _tracers.TRACERS[tracer].record
        self.module = load(Path(program))
        self.n = getattr(self.module, size)
        self.expected = getattr(self.module, "EXPECT", {}).get(size) or self.module.main(self.n)
        _tracers.warm(tracer)

    def once(self) -> None:
        result = self.module.main(self.n)
        if result != self.expected:
            raise RuntimeError(f"main({self.n!r}) gave {result!r}, not {self.expected!r}")

    def untraced(self) -> float:
        began = cpu_s()
        self.once()
        return cpu_s() - began

    def traced(self, out: Path) -> float:
        """Seconds until everything is written into `out`."""
        done: list[bool] = []

        def run() -> None:
            self.once()
            done.append(True)

        began = cpu_s()
        left_out = self.record(run, self.module, out)
        took = cpu_s() - began - left_out
        if len(done) != 1:
            raise RuntimeError(f"traced, main ran {len(done)} times")
        return took


def cost(tracer: str, program: str, size: str, count: bool) -> Row:
    """Medians of the untraced and the traced run, and bytes. count: events by kind as well, read back
    from what was written; where the form does not say that, none."""
    runs = Runs(tracer, program, size)
    untraced: list[float] = []
    first = cpu_s()
    while len(untraced) < FEWEST or (len(untraced) < MOST and cpu_s() < first + UNTRACED_S):
        untraced.append(runs.untraced())
    traced: list[float] = []
    with folder() as top:
        out = top / "out"
        while len(traced) < TRACED_RUNS and sum(traced) < TRACED_S:
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            traced.append(runs.traced(out))
        kinds = _tracers.kinds(out) if count else None
        sizes = _tracers.sizes(out)
    return {
        "untraced_s": statistics.median(untraced),
        "traced_s": statistics.median(traced[1:] or traced),
        "traced_runs": len(traced),
        "kinds": kinds,
        **sizes,
    }


def outside(tracer: str, program: str, size: str) -> Row:
    """The same for a program whose work is done by code that is not recorded: a few percent are to be
    seen, so runs without and with the tracer take turns."""
    runs = Runs(tracer, program, size)
    pairs = []
    for turn in range(PAIRS + 1):
        with folder() as out:
            untraced = runs.untraced()
            pair = untraced, runs.traced(out)
        if turn:
            pairs.append(pair)
    return {
        "untraced_s": statistics.median(untraced for untraced, _ in pairs),
        "traced_s": statistics.median(traced for _, traced in pairs),
        "slowdown": statistics.median(traced / untraced for untraced, traced in pairs),
    }


def memory(tracer: str, program: str, size: str, count: bool) -> Row:
    """The peak of the memory of a process that records one run."""
    runs = Runs(tracer, program, size)
    with folder() as out:
        forget_peak()
        before = peak_rss()
        runs.traced(out)
        peak = peak_rss()
        kinds = _tracers.kinds(out) if count else None
    return {"rss_before": before, "rss_peak": peak, "kinds": kinds}


def probe(tracer: str, programs: str) -> Row:
    """What a tracer shows, by feature: True, False, or None where two equal runs already look different."""

    def run(name: str, which: int = 0) -> tuple[str, list[Any]]:
        runs = Runs(tracer, str(Path(programs) / f"{name}.py"), "ONCE")
        choice.of(which)
        with folder() as out:
            runs.traced(out)
            return _tracers.shown(out), _tracers.trace(out)

    def differs(name: str) -> bool | None:
        (one, _), (again, _), (other, _) = run(name), run(name), run(name, 1)
        return one != other if one == again else None

    text, rows = run("changes")
    states = [
        {name: render(value) for name, value in event.locals.items()}
        for event in Trace(rows)
        if event.function == "main"
    ]

    def seen(variable: str, number: int) -> bool:
        """A state of ours, or a line of a text, has the number at that variable."""
        if rows:
            return any(str(number) in state.get(variable, "") for state in states)
        return re.search(rf"\b{variable}\b[^\n]*{number}", text) is not None

    found: dict[str, bool | None] = {feature: seen(*where) for feature, where in FEATURES.items()}
    return {"seen": found | {"identity": differs("identity"), "live iterators": differs("iterator")}}


def about() -> Row:
    """The interpreter, which tracers it can run, the versions of everything."""
    versions = {}
    for package in ("deskcheck", "pyarrow", "PySnooper", "hunter", "viztracer"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return {
        "python": platform.python_version(),
        "versions": versions,
        "available": _tracers.available(),
        "native": _tracers.native() is not None,
    }


MEASURES: dict[str, Callable[..., Row]] = {
    "about": about,
    "cost": cost,
    "outside": outside,
    "memory": memory,
    "probe": probe,
}


def main() -> None:
    sys.setrecursionlimit(5000)
    what = json.loads(sys.argv[1])
    try:
        row = MEASURES[what.pop("measure")](**what)
    except _tracers.Unsupported as error:
        row = {"unsupported": str(error)}
    print(json.dumps(row))


if __name__ == "__main__":
    main()
