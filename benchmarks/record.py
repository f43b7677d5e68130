"""What recording costs, side by side with other tracers: time, bytes and memory for an event.

    python benchmarks/record.py
    python benchmarks/record.py --programs FILE_OR_FOLDER ... --size FULL --reps 3 --json

Every measurement is made in a new process (_measure.py), the tracers in turn. Not: what starting a
process or importing costs, nor what a tracer sees (benchmarks/README.md says what to keep in mind).
"""

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
OURS = "deskcheck"
TRACERS = {
    "deskcheck": ("deskcheck", "pip install -e ."),
    "E.T.-style": ("json", ""),
    "PySnooper": ("pysnooper", "pip install 'PySnooper>=1.2'"),
}
"""By tracer, as _measure.py calls it: the module that it needs, and what installs that."""

Row = dict[str, Any]


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


def installed() -> list[str]:
    """The tracers that can run here; the others are named on stderr."""
    present = []
    for tracer, (module, command) in TRACERS.items():
        if importlib.util.find_spec(module) is not None:
            present.append(tracer)
        elif tracer == OURS:
            sys.exit(f"{OURS} is not installed for {sys.executable}: {command}")
        else:
            print(f"{tracer} is left out, since it is not installed: {command}", file=sys.stderr)
    return present


def measurements(
    tracers: list[str], files: list[Path], size: str, reps: int
) -> Iterator[tuple[str, str, Row]]:
    """(program, tracer, figures), one after another, repetition by repetition."""
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    for rep in range(reps):
        for file in files:
            for tracer in tracers:
                if sys.stderr.isatty():
                    print(f"\r\033[K{rep + 1}/{reps} {file.stem} {tracer}", end="\r", file=sys.stderr)
                done = subprocess.run(
                    [sys.executable, HERE / "_measure.py", tracer, file, size],
                    env=environment,
                    capture_output=True,
                    text=True,
                )
                if done.returncode:
                    reason = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
                    print(f"{file.name} under {tracer} at {size}: {reason}", file=sys.stderr)
                    continue
                yield file.stem, tracer, json.loads(done.stdout)


def summary(runs: list[Row]) -> Row:
    """Medians over the repetitions of one program under one tracer. Each slowdown is of one process."""
    slowdowns = [run["traced_s"] / run["untraced_s"] for run in runs]
    events = runs[0]["events"]
    return {
        "repetitions": len(runs),
        "lines": runs[0]["lines"],
        "events": events,
        "events_per_s": events / statistics.median(run["traced_s"] for run in runs),
        "bytes_per_event": statistics.median(run["bytes"] for run in runs) / events,
        "zstd_bytes_per_event": statistics.median(run["zstd_bytes"] for run in runs) / events,
        "slowdown": statistics.median(slowdowns),
        "slowdown_range": [min(slowdowns), max(slowdowns)],
        "rss_mib": statistics.median(run["rss_bytes"] for run in runs) / 2**20,
    }


def with_ratios(by_case: dict[tuple[str, str], list[Row]]) -> list[Row]:
    """A row for each program and tracer, then one for each tracer with the geometric means."""
    rows = [
        {"program": program, "tracer": tracer, **summary(runs)} for (program, tracer), runs in by_case.items()
    ]
    ours = {row["program"]: row for row in rows if row["tracer"] == OURS}
    for row in rows:
        base = ours.get(row["program"])
        row["time_ratio"] = row["slowdown"] / base["slowdown"] if base else None
        row["zstd_ratio"] = row["zstd_bytes_per_event"] / base["zstd_bytes_per_event"] if base else None
    count = len({row["program"] for row in rows})
    for tracer in dict.fromkeys(row["tracer"] for row in rows):
        own = [row for row in rows if row["tracer"] == tracer]
        if len(own) < count:
            continue  # a mean over fewer programs compares with nothing
        mean: Row = {"program": "geometric mean", "tracer": tracer}
        for name in (
            "events_per_s",
            "bytes_per_event",
            "zstd_bytes_per_event",
            "slowdown",
            "time_ratio",
            "zstd_ratio",
        ):
            values = [row[name] for row in own]
            mean[name] = None if None in values else statistics.geometric_mean(values)
        rows.append(mean)
    return rows


def number(value: float) -> str:
    """Three digits that count: the machine gives no more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


COLUMNS: dict[str, Callable[[Row], Any]] = {
    "program": lambda row: row["program"],
    "tracer": lambda row: row["tracer"],
    "lines": lambda row: f"{row['lines']:,}",
    "events": lambda row: f"{row['events']:,}",
    "events/s": lambda row: number(row["events_per_s"]),
    "B/event": lambda row: number(row["bytes_per_event"]),
    "with zstd": lambda row: number(row["zstd_bytes_per_event"]),
    "slowdown": lambda row: number(row["slowdown"]),
    "(range)": lambda row: "-".join(number(x) for x in row["slowdown_range"]),
    "RSS +MiB": lambda row: number(row["rss_mib"]),
    f"time/{OURS}": lambda row: number(row["time_ratio"]),
    f"zstd/{OURS}": lambda row: number(row["zstd_ratio"]),
}


def table(rows: list[Row]) -> str:
    """Markdown. A cell without a figure is empty."""
    cells = [list(COLUMNS)]
    for row in rows:
        cells.append([])
        for show in COLUMNS.values():
            try:
                cells[-1].append(str(show(row)))
            except (KeyError, TypeError):  # means have no counts, and without our own run there is no ratio
                cells[-1].append("")
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    lines = []
    for line in cells:
        padded = [
            cell.ljust(width) if n < 2 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        lines.append(f"| {' | '.join(padded)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--programs",
        nargs="+",
        type=Path,
        default=[HERE / "programs"],
        metavar="PATH",
        help="files, or folders of them, that define main(n) and sizes; default: benchmarks/programs",
    )
    parser.add_argument("--size", default="SMALL", help="which of a program's sizes; default: SMALL")
    parser.add_argument(
        "--reps", type=int, default=5, help="processes for each program and tracer; default: 5"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, with every single measurement")
    options = parser.parse_args()
    if options.reps < 1:
        parser.error(f"--reps {options.reps} must be at least 1.")
    files, tracers = programs(options.programs), installed()
    wanted = options.reps * len(files) * len(tracers)
    by_case: dict[tuple[str, str], list[Row]] = {}
    status = 0
    try:
        for program, tracer, row in measurements(tracers, files, options.size, options.reps):
            by_case.setdefault((program, tracer), []).append(row)
    except KeyboardInterrupt:
        status = 130
    done = sum(map(len, by_case.values()))
    if done < wanted:
        print(f"{done} of {wanted} measurements are done; these are theirs.", file=sys.stderr)
        status = status or 1
    about = {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        "size": options.size,
        "repetitions": options.reps,
    }
    rows = with_ratios(by_case)
    if options.json:
        runs = [{"program": p, "tracer": t, "runs": runs} for (p, t), runs in by_case.items()]
        print(json.dumps({**about, "rows": rows, "measurements": runs}, indent=1))
    else:
        print(f"Python {about['python']}, {about['machine']}; size {options.size};", end=" ")
        print(f"{options.reps} repetitions, medians, CPU time\n")
        print(table(rows))
    return status


if __name__ == "__main__":
    sys.exit(main())
