"""What a killed program leaves behind: every event up to its last moment, readable, as an unkilled run tells it."""

import random
from dataclasses import replace

import pytest

from deskcheck.recording import Row, block
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.recording.recording import RunResult
from deskcheck.sandbox import Limits, Tracing, run
from tests.tracer import agree

pytestmark = pytest.mark.skipif(
    not agree.native_is_built(),
    reason="the native tracer is not built here (python setup.py build_ext --inplace)",
)

WORK = """
import os
class Node:
    def __init__(self, value, next):
        self.value, self.next = value, next
def work(n):
    head = None
    for i in range(n):
        head = Node([i, str(i)], head)
        if i % 7 == 6:
            head = head.next.next
    return head
"""
LIMITS = Limits(cpu_s=10, wall_s=30, memory_bytes=1 << 30)


def traced(code: str, limits: Limits = LIMITS) -> tuple[list[Row], RunResult]:
    """The events of a run, every block of which can be read, and how it ended."""
    blocks: list[bytes] = []
    run_result = run(Program(id="p", code=code), limits=limits, tracing=Tracing(blocks.append))
    return [row for one in blocks for row in block.rows(one)], run_result


def without_gaps(rows: list[Row]) -> bool:
    return [row.index for row in rows] == list(range(len(rows)))


@pytest.mark.parametrize(
    "kills", [pytest.param(20, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.exhaustive)]
)
def test_killed_at_any_moment(kills: int) -> None:
    """Killed from outside at so many moments: what is there is the beginning of what an unkilled run tells."""
    code = WORK + "work(400)\n"
    whole, run_result = traced(code)
    assert run_result.wall_s is not None
    seconds = run_result.wall_s
    assert without_gaps(whole)
    choose = random.Random(5)
    lengths = set()
    for _ in range(kills):
        rows, run_result = traced(code, replace(LIMITS, wall_s=choose.uniform(0.4, 1.0) * seconds))
        assert run_result.outcome in (Outcome.TIMED_OUT, Outcome.RETURNED)
        assert without_gaps(rows)
        assert rows == whole[: len(rows)]
        lengths.add(len(rows))
        if (
            run_result.outcome is Outcome.RETURNED
        ):  # on a busy machine the first may have taken longer than the rest
            assert run_result.wall_s is not None
            seconds = min(seconds, run_result.wall_s)
    assert len(lengths) > 1, "the moments differ"


@pytest.mark.parametrize(
    "last",
    ["os._exit(3)", "os.kill(os.getpid(), 9)", "ctypes.string_at(0)", "x = [0] * (1 << 40)"],
    ids=["_exit", "killed", "segmentation fault", "memory"],
)
def test_the_last_line_is_there(last: str) -> None:
    """A process that ends without a word leaves the line that ended it."""
    rows, _ = traced(WORK.replace("import os", "import ctypes, os") + f"work(300)\n{last}\n")
    assert without_gaps(rows)
    lines = [row.line for row in rows if row.function == "<module>" and row.kind == "line"]
    assert lines[-1] == WORK.count("\n") + 2
