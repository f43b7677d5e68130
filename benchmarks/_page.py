"""Figures from measurements, and the page that shows them. Not: measuring, which is record.py's work."""

import os
import platform
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks._names import BLOCKS, BLOCKS_I, MEAN, OURS, PARQUET, PARQUET_I, PEERS, SLOW, SLOW_REPS

BEGIN, END = "<!-- figures: written by benchmarks/record.py -->", "<!-- end of the figures -->"
Row = dict[str, Any]


def summary(runs: list[Row]) -> Row:
    """Medians over the processes that measured one program under one tracer at one size. Each slowdown
    is of one process."""
    slowdowns = [run.get("slowdown", run["traced_s"] / run["untraced_s"]) for run in runs]
    row: Row = {
        "processes": len(runs),
        "untraced_s": statistics.median(run["untraced_s"] for run in runs),
        "traced_s": statistics.median(run["traced_s"] for run in runs),
        "slowdown": statistics.median(slowdowns),
        "slowdown_range": [min(slowdowns), max(slowdowns)],
    }
    for name in ("bytes", "zstd_bytes", "events_bytes"):
        if name in runs[0]:
            row[name] = statistics.median(run[name] for run in runs)
    kinds = next((run["kinds"] for run in runs if run.get("kinds")), None)
    if kinds:
        row |= {"lines": kinds.get("line", 0), "events": sum(kinds.values()), "kinds": kinds}
    return row


def summaries(measurements: list[Row]) -> list[Row]:
    """A row for each part, interpreter, program, tracer and size, in the order of their first measurement."""
    cases: dict[tuple[str, ...], list[Row]] = {}
    keys = ("part", "python", "program", "tracer", "size")
    for row in measurements:
        if "slowdown" in row or "traced_s" in row:
            cases.setdefault(tuple(row[key] for key in keys), []).append(row)
    return [dict(zip(keys, case, strict=True)) | summary(runs) for case, runs in cases.items()]


def with_ratios(rows: list[Row]) -> list[Row]:
    """The rows, each with how many times longer its run took than one of ours on the same program at the
    same size: the two slowdowns divided. After them the geometric means, where there are all programs."""
    ours = {
        (row["part"], row["python"], row["program"], row["size"], row["tracer"]): row["slowdown"]
        for row in rows
        if row["tracer"] in OURS
    }
    for row in rows:
        row["ratios"] = {
            name: row["slowdown"] / base
            for name in OURS
            if (base := ours.get((row["part"], row["python"], row["program"], row["size"], name)))
        }
    means = []
    for part, python, tracer, size in unique(rows, "part", "python", "tracer", "size"):
        of_part = [row for row in rows if (row["part"], row["python"]) == (part, python)]
        own = [row for row in of_part if (row["tracer"], row["size"]) == (tracer, size)]
        if len(own) < len({row["program"] for row in of_part}):
            continue  # a mean over fewer programs compares with nothing
        mean: Row = {"part": part, "python": python, "program": MEAN, "tracer": tracer, "size": size}
        mean["slowdown"] = statistics.geometric_mean(row["slowdown"] for row in own)
        mean["ratios"] = {
            name: statistics.geometric_mean(row["ratios"][name] for row in own)
            for name in OURS
            if all(name in row["ratios"] for row in own)
        }
        means.append(mean)
    return rows + means


def unique(rows: Iterable[Row], *keys: str) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(tuple(row[key] for key in keys) for row in rows))


def number(value: float) -> str:
    """Three digits that count: the machine gives no more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(head: Sequence[str], lines: list[list[str]], texts: int = 1) -> str:
    """Markdown. The first columns, so many, are text; the others figures, on the right."""
    cells = [list(head), *lines]
    widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
    rule = ["-" * width if n < texts else "-" * (width - 1) + ":" for n, width in enumerate(widths)]
    padded = [
        [
            cell.ljust(width) if n < texts else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in (cells[0], rule, *cells[1:])
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def grid(rows: list[Row], cell: Callable[[Row], str], label: Callable[[Row], str]) -> str:
    """Tracers down, programs across, the mean last."""
    programs = sorted({row["program"] for row in rows} - {MEAN})
    programs += [MEAN] if any(row["program"] == MEAN for row in rows) else []
    lines: dict[str, dict[str, str]] = {}
    for row in rows:
        lines.setdefault(label(row), {})[row["program"]] = cell(row)
    return table(
        ["", *programs], [[name, *(line.get(p, "") for p in programs)] for name, line in lines.items()]
    )


def costs(rows: list[Row], small: str) -> list[str]:
    """Slowdowns of one part under one interpreter, and what they are beside ours."""
    found = [
        "Slowdown: how many times longer than the program untraced.",
        grid(
            sorted(rows, key=lambda row: row["size"] != small),  # stable: the sizes one after another
            lambda row: number(row["slowdown"]),
            lambda row: f"{row['tracer']} ({row['size']})",
        ),
    ]
    ours = [name for name in (BLOCKS, PARQUET) if any(name in row["ratios"] for row in rows)]
    peers = [row for row in rows if row["tracer"] not in OURS and row["size"] == small]
    if ours and peers:
        found += [
            f"How many times longer than {' / '.join(ours)}, on the same programs at {small}.",
            grid(
                peers,
                lambda row: " / ".join(number(row["ratios"][n]) if n in row["ratios"] else "?" for n in ours),
                lambda row: row["tracer"],
            ),
        ]
    return found


def space(rows: list[Row], size: str) -> list[str]:
    """Bytes a line event, with all other events and whatever else is in the file."""
    rows = [row for row in rows if row["size"] == size and row["program"] != MEAN]
    lines = {row["program"]: row["lines"] for row in rows if row["tracer"] in OURS and "lines" in row}
    columns: dict[str, tuple[str, str]] = {
        "Parquet events file": (PARQUET, "events_bytes"),
        "block file": (BLOCKS, "bytes"),
        "block file, zstd": (BLOCKS, "zstd_bytes"),
    }
    for peer in PEERS:
        if any(row["tracer"] == peer for row in rows):
            columns |= {peer: (peer, "bytes"), f"{peer}, zstd": (peer, "zstd_bytes")}
    shown = []
    for program, count in sorted(lines.items()):
        by_tracer = {row["tracer"]: row for row in rows if row["program"] == program}
        cells = [
            number(by_tracer[tracer][field] / count) if tracer in by_tracer and count else ""
            for tracer, field in columns.values()
        ]
        shown.append([program, f"{count:,}", *cells])
    if not shown:
        return []
    return [
        f"Bytes for one line event at {size}: the whole file, divided by its line events.",
        table(["", "line events", *columns], shown),
    ]


def instructions(rows: list[Row]) -> list[str]:
    """Bytes an instruction event, with all other events and whatever else is in the file."""
    shown = []
    for program, size in unique((row for row in rows if row["program"] != MEAN), "program", "size"):
        by_tracer = {row["tracer"]: row for row in rows if (row["program"], row["size"]) == (program, size)}
        kinds = by_tracer.get(PARQUET_I, {}).get("kinds", {})
        count = kinds.get("instruction")
        if not count:
            continue
        cells = [
            number(by_tracer[tracer][field] / count) if tracer in by_tracer else ""
            for tracer, field in ((PARQUET_I, "events_bytes"), (BLOCKS_I, "bytes"), (BLOCKS_I, "zstd_bytes"))
        ]
        shown.append([program, size, f"{kinds['line']:,}", f"{count:,}", *cells])
    if not shown:
        return []
    head = [
        "",
        "size",
        "line events",
        "instruction events",
        "Parquet events file",
        "block file",
        "block file, zstd",
    ]
    return [
        "Bytes for one instruction event: the whole file, divided by its instruction events.",
        table(head, shown, texts=2),
    ]


def outside(rows: list[Row]) -> list[str]:
    shown = [
        [
            row["program"].replace("_", " "),
            row["tracer"],
            f"{row['slowdown']:.3f}",
            "-".join(f"{x:.3f}" for x in row["slowdown_range"]),
            f"{row['untraced_s'] * 1000:,.0f}",
        ]
        for row in rows
        if row["program"] != MEAN
    ]
    return [table(["", "tracer", "slowdown", "(range)", "untraced, ms"], shown, texts=2)] if shown else []


def memory(measurements: list[Row]) -> list[str]:
    """Peaks of the resident memory at about a million and ten million events of one program."""
    cases: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in measurements:
        if row["part"] == "memory":
            case = cases.setdefault((row["program"], row["tracer"]), {})
            case.setdefault(row["size"], []).append(row)
    shown = []
    for (program, tracer), by_size in cases.items():
        if len(by_size) < 2:
            continue
        few, many = by_size.values()
        peaks = [statistics.median(run["rss_peak"] for run in runs) / 2**20 for runs in (few, many)]
        # Only what went to Parquet is counted: the other forms hold the same events.
        counts = [
            next((f"{sum(run['kinds'].values()):,}" for run in runs if run.get("kinds")), "")
            for runs in (few, many)
        ]
        shown.append([program, tracer, *counts, *(f"{x:.1f}" for x in peaks), f"{peaks[1] - peaks[0]:+.1f}"])
    if not shown:
        return []
    head = ["", "tracer", "events", "events, ten times", "peak, MiB", "peak, MiB, ten times", "growth, MiB"]
    return [table(head, shown, texts=2)]


def probes(measurements: list[Row]) -> list[str]:
    """What each tracer shows, with the interpreters named where they differ."""
    found: dict[str, dict[str, dict[str, bool | None]]] = {}
    for row in measurements:
        if row["part"] == "probes":
            for feature, seen in row["seen"].items():
                found.setdefault(row["tracer"], {}).setdefault(feature, {})[row["python"]] = seen
    words = {True: "yes", False: "no", None: "unclear"}
    shown = []
    features = list(next(iter(found.values()), {}))
    for tracer, by_feature in found.items():
        cells = []
        for feature in features:
            by_python = by_feature[feature]
            if len(set(by_python.values())) == 1:
                cells.append(words[next(iter(by_python.values()))])
            else:
                cells.append(", ".join(f"{words[seen]} ({python})" for python, seen in by_python.items()))
        shown.append([tracer, *cells])
    return [table(["", *features], shown, texts=99)] if shown else []


def machine() -> str:
    """The machine in words, without its name."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return f"{model}, {os.cpu_count()} CPUs, {platform.system()} {platform.release()}"


def page(result: Row) -> str:
    """Everything that was measured, as Markdown."""
    about, measurements = result["about"], result["measurements"]
    rows = with_ratios(summaries(measurements))
    small, full = result["sizes"]
    versions: dict[str, str] = {}
    for each in about.values():
        versions |= each["versions"]
    load = "{:.1f} at the beginning, {:.1f} at the end".format(*result["load"])
    interpreters = ", ".join(each["python"] for each in about.values())
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    slow = f"at most {SLOW_REPS} for {', '.join(SLOW)}"
    processes = f"{result['repetitions']} processes for each program, tracer and size ({slow})"
    text = [
        f"Measured {result['date']} by `{result['command']}`.",
        f"Machine: {machine()}; load {load}. CPython {interpreters}; {packages}.",
        f"{processes}, the tracers in turn; medians of CPU time.",
    ]
    without = [python for python, each in about.items() if not each["native"]]
    if without:
        text.append(
            f"**The native tracer is not built for {', '.join(without)}: there, what is called "
            f'"{BLOCKS}" and "{PARQUET}" is the reference tracer.**'
        )
    text += [f"- {note}" for note in result["notes"]]

    def section(title: str, paragraphs: list[str], missing: str = "Not measured.") -> None:
        text.extend([f"## {title}", *(paragraphs or [missing])])

    for part, title in (("lines", "Lines"), ("instructions", "Instructions")):
        paragraphs: list[str] = []
        for (python,) in unique((row for row in rows if row["part"] == part), "python"):
            own = [row for row in rows if (row["part"], row["python"]) == (part, python)]
            paragraphs += [f"### {title}, Python {python}", *costs(own, small)]
            if part == "lines":
                paragraphs += space(own, full) + space(own, small)
            else:
                paragraphs += instructions(own)
        section(title, paragraphs)
    paragraphs = []
    for (python,) in unique((row for row in rows if row["part"] == "outside"), "python"):
        own = [row for row in rows if (row["part"], row["python"]) == ("outside", python)]
        paragraphs += [f"Python {python}:", *outside(own)]
    section("Code that is not recorded", paragraphs)
    paragraphs = []
    for (python,) in unique((row for row in measurements if row["part"] == "memory"), "python"):
        own = [row for row in measurements if row["python"] == python]
        paragraphs += [f"Python {python}:", *memory(own)]
    section(
        "Memory", paragraphs, "Not measured: ten million events take the reference tracer most of an hour."
    )
    section("What each tracer shows", probes(measurements))
    return "\n\n".join(text) + "\n"
