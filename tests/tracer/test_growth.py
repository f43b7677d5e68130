"""What an event looks at does not grow with the state that it leaves alone."""

import json
import subprocess
import sys
from typing import Any

import pytest

from benchmarks.growing.cases import CASES
from benchmarks.growth import exponent
from tests.tracer.process import needs_native

INLINED = sys.version_info >= (3, 12)
"""Whether comprehensions run in the frame around them: at the end of each, everything is looked at."""
SCANNED = ("tree insert", "numpy walk", *(("nested dicts",) if INLINED else ()))
"""Cases with calls of C code, after which everything is looked at, or with nested comprehensions."""
SIZES = {"recursion": (100, 400)}


def measure(name: str, n: int) -> dict[str, Any]:
    """A row of the benchmark, by a fresh process: beside other threads, everything may change at any event."""
    code = f"import json; from benchmarks.growth import measure; print(json.dumps(measure({name!r}, {n}, seconds=0)))"
    return dict(json.loads(subprocess.run([sys.executable, "-c", code], stdout=-1, check=True).stdout))


@needs_native
@pytest.mark.parametrize("name", [name for name in CASES if name not in SCANNED])
def test_an_event_looks_at_what_changes(name: str) -> None:
    """Objects looked at for each event, and bytes for each change, at two sizes of the state."""
    small, large = (measure(name, n) for n in SIZES.get(name, (200, 1600)))
    assert large["looked_at"] / large["events"] <= 1.2 * small["looked_at"] / small["events"] + 3
    assert large["bytes_per_change"] <= 1.2 * small["bytes_per_change"] + 100
    assert large["anything"] <= small["anything"] + 2


@needs_native
def test_a_tree_is_looked_through_once_for_each_call_of_c_code() -> None:
    """`random.random()` may change anything, the lines that walk the tree may not."""
    row = measure("tree insert", 300)
    assert row["anything"] <= (3 if INLINED else 1) * 300 + 10


def test_the_exponent_is_that_of_the_ratio() -> None:
    rows = [{"n": n, "ratio": 3 * n**1.5} for n in (10, 20, 40, 80)]
    assert exponent(rows) == pytest.approx(1.5)
