"""What `scale.py` printed, as Markdown."""

import json
from collections.abc import Iterator
from typing import Any

from benchmarks._page import number, table

BEGIN, END = "<!-- scale: written by benchmarks/scale.py -->", "<!-- end of scale -->"
WAYS = {
    "recorder": "recorder, two threads",
    "local": "local pool",
    "ray": "Ray, one node",
    "nodes": "Ray, a node for each worker",
    "driver alone": "driver alone",
    "again": "the same again, when it is whole",
}
Row = dict[str, Any]


def page(printed: list[str]) -> str:
    """printed: of each run of `scale.py` what it wrote to standard output."""
    return "\n\n".join(part for text in printed for part in _run([*_rows(text)])) + "\n"


def _rows(text: str) -> Iterator[Row]:
    """The lines that are ours: Ray writes between them."""
    for line in text.splitlines():
        if line.startswith("{"):
            yield json.loads(line)


def _run(rows: list[Row]) -> Iterator[str]:
    about = rows[0]
    load = number(about["load"][0])
    where = f"{about['machine']}; CPython {about['python']}; load at the beginning {load}"
    yield f"Measured {about['date']} by `{about['command']}`. {where}."
    measured = [row for row in rows if "wall_s" in row]
    if measured:
        yield _measured(measured)
    for row in rows:
        if "differ" in row:
            told = ", ".join(f"{ways}: {count}" for ways, count in row["differ"].items())
            yield f"Rows: {row['rows']:,}. Those that differ: {told}."
        if "per_s" in row and isinstance(row["per_s"], dict):
            ratios = [f"{name}: {value:.2f}" for name, value in row.items() if name != "per_s"]
            yield f"Programs a second, {'; '.join(ratios)}."
        for what in ("again", "few"):
            if isinstance(row.get(what), dict):
                yield _one(what, row[what])
    sources = [f"{row['source'].replace('|', '/')} {row['programs']:,}" for row in rows if "source" in row]
    if sources:
        yield f"Programs: {'; '.join(sources)}."


def _measured(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        count = row["programs"]
        # What a cluster's processes use nobody here is told.
        cpu = number(row["cpu_s"] / count * 1000) if row["what"] not in ("ray", "nodes") else ""
        worker = f"{row['worker_mb']:.0f}" if row.get("worker_mb") and cpu else ""
        lines.append(
            [
                WAYS.get(row["what"]) or str(row["what"]),
                f"{count:,}",
                number(count / row["wall_s"]),
                cpu,
                f"{row['driver_mb']:.0f}",
                worker,
            ]
        )
    head = ["", "programs", "a second", "CPU ms a program", "driver, MB", "largest process under it, MB"]
    return table(head, lines)


def _one(what: str, row: Row) -> str:
    if what == "again":
        return f"Started again when it was whole: {row['wall_s']:.1f} s, {row['cpu_s']:.1f} s of CPU."
    driver, worker = f"{row['driver_mb']:.0f} MB", f"{row['worker_mb']:.0f} MB"
    return f"{row['programs']:,} of them, local pool: driver {driver}, largest process under it {worker}."
