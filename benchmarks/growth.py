"""How the cost of recording grows with the size of a program's state.

    python -m benchmarks.growth
    python -m benchmarks.growth --cases 'tree insert,text' --python .venv-3.13/bin/python --json

Each program of growing/cases.py runs at four sizes, untraced and traced (natively, blocks only, no file),
in a process of its own; CPU time of the fastest runs. What is printed: traced over untraced time by size,
the exponent e of that ratio over n (least squares of the logarithms: ratio ~ n^e), the bytes of the blocks
for each item of data that changes, and the tracer's counters at the largest size: objects that were looked
at for each event, and the share of events at which everything may have changed.
"""

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.growing import cases
from benchmarks.growing.cases import CASES
from deskcheck.tracer import TraceLimits

HERE = Path(__file__).resolve().parent

UNTRACED_S, TRACED_S, RUNS = 0.3, 2.0, 5
"""Runs are repeated for so long, but at most `RUNS` times if traced."""
PATIENCE_S = 60
"""A size that takes longer is left out, with all larger ones."""

Row = dict[str, Any]


def fastest(run: Callable[[], Any], seconds: float, runs: int) -> float:
    """CPU seconds of the fastest of some runs."""
    times: list[float] = []
    while not times or (sum(times) < seconds and len(times) < runs):
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return min(times)


def measure(name: str, n: int, *, seconds: float = TRACED_S) -> Row:
    """One case at one size, in this process. seconds: how long traced runs are repeated."""
    from deskcheck.tracer.native import NativeTracer

    case, path = CASES[name], str(cases.__file__)
    expected = case.run(n)
    untraced = fastest(lambda: case.run(n), UNTRACED_S, 1000)
    counts: dict[str, int] = {}
    sizes: list[int] = []

    def traced() -> None:
        sizes.clear()
        limits = TraceLimits(events=sys.maxsize)
        tracer = NativeTracer(
            {path: "cases.py"},
            lambda block: sizes.append(len(block)),
            modules=(cases.__name__,),
            limits=limits,
        )
        tracer.start()
        try:
            result = case.run(n)
        finally:
            counts.update(tracer.counts())
            tracer.stop()
        if result != expected or tracer.cut or tracer.failure:
            raise RuntimeError(f"{name} {n}: {result!r}, not {expected!r}; {tracer.cut} {tracer.failure!r}")

    took = fastest(traced, seconds, RUNS)
    return {
        "n": n,
        "untraced_s": untraced,
        "traced_s": took,
        "ratio": took / untraced,
        "bytes": sum(sizes),
        "bytes_per_change": sum(sizes) / case.changes(n),
        **counts,
    }


def exponent(rows: list[Row]) -> float:
    """Slope of the logarithm of the ratio over that of n."""
    points = [(math.log(row["n"]), math.log(row["ratio"])) for row in rows]
    middle = sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)
    spread = sum((x - middle[0]) ** 2 for x, _ in points)
    return sum((x - middle[0]) * (y - middle[1]) for x, y in points) / spread if spread else math.nan


def grown(python: str, name: str) -> list[Row]:
    """A case at each size, up to the first that takes too long."""
    rows: list[Row] = []
    for n in CASES[name].sizes:
        command = [python, "-m", "benchmarks.growth", "--measure", name, str(n)]
        try:
            done = subprocess.run(
                command, cwd=HERE.parent, capture_output=True, text=True, timeout=PATIENCE_S, check=False
            )
        except subprocess.TimeoutExpired:
            print(f"{name} {n}: not done after {PATIENCE_S} s", file=sys.stderr)
            break
        if done.returncode:
            raise RuntimeError(f"{name} {n}: {done.stderr.strip()[-500:]}")
        rows.append(json.loads(done.stdout.splitlines()[-1]))
    return rows


def line(name: str, rows: list[Row]) -> str:
    last, count = rows[-1], len(CASES[name].sizes)
    ratios = " / ".join(f"{row['ratio']:.0f}" for row in rows) + " / -" * (count - len(rows))
    sizes = " / ".join(str(n) for n in CASES[name].sizes)
    return (
        f"| {name} | {sizes} | {ratios} | {exponent(rows):+.2f} | {last['bytes_per_change']:.0f} "
        f"| {last['looked_at'] / last['events']:.1f} | {last['anything'] / last['events']:.1%} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", default=",".join(CASES), help="names, with commas between them")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--measure", nargs=2, metavar=("CASE", "N"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        sys.setrecursionlimit(5000)
        print(json.dumps(measure(options.measure[0], int(options.measure[1]))))
        return
    names = options.cases.split(",")
    if unknown := [name for name in names if name not in CASES]:
        parser.error(f"no case {', '.join(unknown)}: choose from {', '.join(CASES)}")
    if not options.json:
        print("| case | n | traced / untraced | exponent | bytes a change | looked at | anything |")
        print("|---|---|---|---|---|---|---|")
    for name in names:
        rows = grown(options.python, name)
        if options.json:
            print(json.dumps({"case": name, "exponent": exponent(rows), "rows": rows}), flush=True)
        elif rows:
            print(line(name, rows), flush=True)


if __name__ == "__main__":
    main()
