"""Figures from measurements, and the page that shows them. Not: measuring, which is record.py's work."""

import functools
import os
import platform
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks._names import (
    BLOCKS,
    BLOCKS_I,
    INSTRUCTIONS,
    MEAN,
    OURS,
    PARQUET,
    PARQUET_I,
    PEERS,
    SLOW,
    SLOW_REPS,
)

BEGIN, END = "<!-- figures: written by benchmarks/record.py -->", "<!-- end of the figures -->"
BYTES = ("bytes", "zstd_bytes")
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
    counted = sorted((row for row in rows if row.get("lines")), key=lambda row: row["tracer"] in OURS)
    lines = {row["program"]: row["lines"] for row in counted}  # ours last, which define what a line event is
    present = {row["tracer"] for row in rows}
    forms = [name for name in (PARQUET, BLOCKS, *PEERS) if name in present]
    shown = []
    for program, count in sorted(lines.items()):
        by_tracer = {row["tracer"]: row for row in rows if row["program"] == program}
        cells = []
        for name in forms:
            fields = ("events_bytes",) if name == PARQUET else BYTES
            sizes = [by_tracer[name][field] / count for field in fields if name in by_tracer]
            cells.append(" / ".join(map(number, sizes)))
        shown.append([program, f"{count:,}", *cells])
    if not shown:
        return []
    head = f"Bytes for one line event at {size}: the whole file, divided by its line events."
    how = "Of Parquet the file of events, compressed inside; of the others the file as it is / with zstd."
    return [f"{head} {how}", table(["", "line events", *forms], shown)]


def instructions(rows: list[Row]) -> list[str]:
    """Bytes an instruction event, with all other events and whatever else is in the file."""
    shown = []
    for program, size in unique((row for row in rows if row["program"] != MEAN), "program", "size"):
        by_tracer = {row["tracer"]: row for row in rows if (row["program"], row["size"]) == (program, size)}
        kinds = by_tracer.get(PARQUET_I, {}).get("kinds", {})
        count = kinds.get("instruction")
        if not count:
            continue
        blocks = [by_tracer[BLOCKS_I][field] / count for field in BYTES if BLOCKS_I in by_tracer]
        parquet = number(by_tracer[PARQUET_I]["events_bytes"] / count)
        shown.append(
            [program, size, f"{kinds['line']:,}", f"{count:,}", parquet, " / ".join(map(number, blocks))]
        )
    if not shown:
        return []
    return [
        "Bytes for one instruction event: the whole file, divided by its instruction events.",
        table(["", "size", "line events", "instruction events", PARQUET_I, BLOCKS_I], shown, texts=2),
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


def growth(measurements: list[Row]) -> list[Row]:
    """Peaks of the resident memory at about a million and ten million events of one program, in MiB."""
    runs = [row for row in measurements if row["part"] == "memory"]
    found = []
    for python, program, tracer in unique(runs, "python", "program", "tracer"):
        own = [
            row for row in runs if (row["python"], row["program"], row["tracer"]) == (python, program, tracer)
        ]
        peaks, events = [], []
        for (size,) in unique(own, "size"):
            of_size = [row for row in own if row["size"] == size]
            peaks.append(statistics.median(row["rss_peak"] for row in of_size) / 2**20)
            events.append(next((sum(row["kinds"].values()) for row in of_size if row["kinds"]), 0))
        if len(peaks) == 2:
            case = {"python": python, "program": program, "tracer": tracer}
            found.append({**case, "peaks": peaks, "events": events})
    return found


def memory(rows: list[Row]) -> list[str]:
    shown = []
    for row in rows:
        events = [f"{count:,}" if count else "as many" for count in row["events"]]
        peaks = [f"{peak:.1f}" for peak in row["peaks"]]
        shown.append(
            [row["program"], row["tracer"], *events, *peaks, f"{row['peaks'][1] - row['peaks'][0]:+.1f}"]
        )
    head = ["", "tracer", "events", "ten times", "peak, MiB", "ten times, MiB", "growth, MiB"]
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
        shown.append([tracer.removesuffix(", blocks"), *cells])
    return [table(["", *features], shown, texts=99)] if shown else []


def short(rows: list[Row], grown: list[Row], pythons: Sequence[str], sizes: Sequence[str]) -> list[str]:
    """The figures that decide, an interpreter a column: means over the programs, worst cases of the rest."""

    def largest(python: str, tracer: str) -> list[Row]:
        """The rows of one tracer at the largest size that was measured, but those of other code."""
        own = [row for row in rows if (row["python"], row["tracer"]) == (python, tracer)]
        own = [row for row in own if row["part"] != "outside"]
        size = next((size for size in reversed(sizes) if any(row["size"] == size for row in own)), None)
        return [row for row in own if row["size"] == size]

    def slowdown(python: str, tracer: str) -> str:
        means = [row for row in largest(python, tracer) if row["program"] == MEAN]
        return f"{number(means[0]['slowdown'])} ({means[0]['size']})" if means else ""

    def ratio(python: str, tracer: str, base: str) -> str:
        means = [row for row in largest(python, tracer) if row["program"] == MEAN and base in row["ratios"]]
        return number(means[0]["ratios"][base]) if means else ""

    def bytes_a_line(python: str) -> str:
        own = [row for row in largest(python, PARQUET) if row.get("lines")]
        return (
            number(sum(row["events_bytes"] for row in own) / sum(row["lines"] for row in own)) if own else ""
        )

    def worst_outside(python: str) -> str:
        own = [row for row in rows if (row["part"], row["python"]) == ("outside", python)]
        own = [row for row in own if row["tracer"] == BLOCKS]
        return f"{max(row['slowdown'] for row in own):.3f}" if own else ""

    def worst_growth(python: str) -> str:
        own = [row["peaks"][1] - row["peaks"][0] for row in grown if row["python"] == python]
        return f"{max(own):+.1f}" if own else "not measured"

    lines: dict[str, Callable[[str], str]] = {
        f"slowdown: {name}": functools.partial(slowdown, tracer=name)
        for name in (BLOCKS, PARQUET, *INSTRUCTIONS)
    }
    lines |= {
        f"{peer}: times as long as {name}": functools.partial(ratio, tracer=peer, base=name)
        for peer in PEERS
        for name in (BLOCKS, PARQUET)
    }
    lines |= {
        "bytes a line event in the Parquet file": bytes_a_line,
        "slowdown by code that is not recorded, at worst": worst_outside,
        "peak of memory, growth from 1 to 10 million events, at worst, MiB": worst_growth,
    }
    shown = [[name, *map(value, pythons)] for name, value in lines.items()]
    return [table(["", *pythons], [line for line in shown if any(line[1:])])]


def published(text: str, file: Path, begin: str, end: str) -> str:
    """The page with this text between the marks, in place of what stood there. Exits where it lacks them."""
    whole = file.read_text(encoding="utf-8")
    before, begins, rest = whole.partition(begin)
    _, ends, after = rest.partition(end)
    if not begins or not ends:
        sys.exit(f"{file}: it has no lines {begin!r} and {end!r}, between which the figures go.")
    return f"{before}{begin}\n\n{text}\n{end}{after}"


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
    count = "One process" if result["repetitions"] == 1 else f"{result['repetitions']} processes"
    processes = f"{count} for each program, tracer and size ({slow})"
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
    if result["notes"]:
        text.append("\n".join(f"- {note}" for note in result["notes"]))

    grown = growth(measurements)

    def section(title: str, paragraphs: list[str], missing: str = "Not measured.") -> None:
        text.extend([f"## {title}", *(paragraphs or [missing])])

    section("In short", short(rows, grown, list(about), (small, full)))
    for part, title in (("lines", "Lines"), ("instructions", "Instructions")):
        paragraphs: list[str] = []
        for (python,) in unique((row for row in rows if row["part"] == part), "python"):
            own = [row for row in rows if (row["part"], row["python"]) == (part, python)]
            paragraphs += [f"### {title}, Python {python}", *costs(own, small)]
            if part == "lines":
                paragraphs += [each for size in dict.fromkeys((full, small)) for each in space(own, size)]
            else:
                paragraphs += instructions(own)
        section(title, paragraphs)
    paragraphs = []
    for (python,) in unique((row for row in rows if row["part"] == "outside"), "python"):
        own = [row for row in rows if (row["part"], row["python"]) == ("outside", python)]
        paragraphs += [f"Python {python}:", *outside(own)]
    section("Code that is not recorded", paragraphs)
    paragraphs = []
    for (python,) in unique(grown, "python"):
        paragraphs += [f"Python {python}:", *memory([row for row in grown if row["python"] == python])]
    why = "Not measured: ten million events take the reference tracer most of an hour."
    section("Memory", paragraphs, why if without else "Not measured.")
    section("What each tracer shows", probes(measurements))
    return "\n\n".join(text) + "\n"
