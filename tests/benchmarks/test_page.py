"""benchmarks/_page.py: medians, ratios and tables, from figures that are given."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOP = Path(__file__).parents[2]
BLOCKS, PARQUET, ET, MEAN = "deskcheck, blocks", "deskcheck, Parquet", "E.T.-style", "geometric mean"


@pytest.fixture(scope="module")
def page() -> ModuleType:
    """The benchmarks are no package that is installed: the top folder is put on the path, as record.py does."""
    sys.path.insert(0, str(TOP))
    try:
        return importlib.import_module("benchmarks._page")
    finally:
        sys.path.remove(str(TOP))


def cost(program: str, tracer: str, traced_s: float, size: str = "SMALL", **more: Any) -> dict[str, Any]:
    """One measurement: every program takes a second untraced."""
    sizes = {"bytes": 1000, "zstd_bytes": 100, "events_bytes": 50}
    case = {"part": "lines", "python": "3.12", "program": program, "tracer": tracer, "size": size}
    return case | {"untraced_s": 1.0, "traced_s": traced_s, "kinds": None} | sizes | more


def test_ratios_are_of_the_same_program_and_size(page: ModuleType) -> None:
    """Medians over processes, then divided; the mean over programs is the geometric one."""
    measurements = [
        *(cost("a", BLOCKS, s) for s in (2.0, 4.0, 90.0)),
        *(cost("a", ET, s) for s in (40.0, 36.0)),
        cost("b", BLOCKS, 5.0),
        cost("b", ET, 5.0),
        cost("a", BLOCKS, 3.0, "FULL"),
        cost("b", BLOCKS, 12.0, "FULL"),
    ]
    rows = {
        (row["program"], row["tracer"], row["size"]): row
        for row in page.with_ratios(page.summaries(measurements))
    }
    assert rows["a", BLOCKS, "SMALL"]["slowdown"] == 4
    assert rows["a", BLOCKS, "SMALL"]["slowdown_range"] == [2, 90]
    assert rows["a", ET, "SMALL"]["ratios"] == {BLOCKS: 9.5}
    assert rows["b", ET, "SMALL"]["ratios"] == {BLOCKS: 1}
    assert rows[MEAN, ET, "SMALL"]["ratios"] == {BLOCKS: pytest.approx(9.5**0.5)}
    assert rows[MEAN, BLOCKS, "FULL"]["slowdown"] == pytest.approx(6)


def test_a_mean_needs_every_program(page: ModuleType) -> None:
    """A tracer that failed on one program has no mean, and none is made up."""
    rows = page.with_ratios(
        page.summaries([cost("a", BLOCKS, 2.0), cost("b", BLOCKS, 2.0), cost("a", ET, 9.0)])
    )
    assert [row["tracer"] for row in rows if row["program"] == MEAN] == [BLOCKS]


def test_bytes_are_those_of_a_line_event(page: ModuleType) -> None:
    """Every tracer's file is divided by the line events in our own."""
    rows = page.summaries(
        [cost("a", PARQUET, 2.0, kinds={"line": 10, "call": 90}), cost("a", BLOCKS, 2.0), cost("a", ET, 9.0)]
    )
    above, table = page.space(rows, "SMALL")
    assert "SMALL" in above
    last = [cell.strip() for cell in table.splitlines()[-1].strip("|").split(" | ")]
    assert last == ["a", "10", "5", "100 / 10", "100 / 10"]


def test_growth_of_memory(page: ModuleType) -> None:
    """The peak at ten million events less that at one million; a program with only one of them has none."""
    case = {"part": "memory", "python": "3.12", "program": "a", "tracer": PARQUET}
    few = case | {"size": "MILLION", "rss_peak": 100 * 2**20, "kinds": {"line": 7, "call": 3}}
    many = case | {"size": "TEN_MILLION", "rss_peak": 112 * 2**20, "kinds": {"line": 70, "call": 30}}
    (row,) = page.growth([few, many, few | {"program": "b"}])
    assert row["events"] == [10, 100]
    last = [cell.strip() for cell in page.memory([row])[0].splitlines()[-1].strip("|").split(" | ")]
    assert last == ["a", PARQUET, "10", "100", "100.0", "112.0", "+12.0"]


def test_interpreters_that_differ_are_named(page: ModuleType) -> None:
    """What a tracer shows is one word where all agree."""
    case = {"part": "probes", "tracer": ET}
    old = case | {"python": "3.11", "seen": {"identity": False, "a callee": True}}
    new = case | {"python": "3.12", "seen": {"identity": None, "a callee": True}}
    (table,) = page.probes([old, new])
    last = [cell.strip() for cell in table.splitlines()[-1].strip("|").split(" | ")]
    assert last == [ET, "no (3.11), unclear (3.12)", "yes"]


def test_a_page_of_nothing(page: ModuleType) -> None:
    """Interrupted at once there are no figures, and every part says so."""
    about = {"python": "3.12.1", "versions": {}, "available": {}, "native": False}
    result = {"date": "2026-01-01", "command": "x", "about": {"3.12": about}, "sizes": ["SMALL", "FULL"]}
    text = page.page(result | {"repetitions": 1, "load": [0, 0], "notes": ["word"], "measurements": []})
    assert text.count("Not measured") == 5
    assert "is the reference tracer.**" in text
    assert "\n- word\n" in text
