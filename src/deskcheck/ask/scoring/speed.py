"""Programs that are to be made faster, judged by the number of instructions that they run.

After PIE (Shypula et al. 2024, arXiv:2302.07867): an answer is faster if it is right and at least 1.1 times
as fast as the slow program; if it is wrong or slower, its speedup is 1. PIE measures time on a simulated
machine. Here the instructions of Python are counted, as a recording at that level has them, in the runs in
which the tests pass. Both programs are first laid out alike (`ast.unparse`). The figure is the same on every
machine with the same version of Python, however busy it is.

Not counted: C code. ``sum(xs)`` is a few instructions however long ``xs`` is, and so is a sort. The process
of the answer reports the count: code made at run time, modules that are not installed, other processes and
interpreters are refused, but an answer made against the recorder itself is not stopped.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deskcheck.ask.scoring.judge import InstructionCount, Judge
from deskcheck.ask.scoring.programs import Tested, run_tests
from deskcheck.sources.text.python import unparsed

FASTER = 1.1
"""Times as few instructions as the slow program has."""


@dataclass(frozen=True, slots=True)
class Fast:
    """The outcome of an answer."""

    tested: Tested
    instructions: int | None
    """None: unknown. So are those of the slow program."""
    slow: int | None
    reason: str
    """The reason why the answer is not faster; empty if it is."""

    @property
    def cost(self) -> float:
        """Instructions as a share of the slow program's; 1 if the answer is wrong, or has more. The speedup
        is its inverse."""
        if not self.tested.right or not self.instructions or not self.slow:
            return 1.0
        return min(1.0, self.instructions / self.slow)


def run_fast(data: Mapping[str, Any], answer: str, judge: Judge) -> Fast:
    """The outcome of an answer to a sample with this data. Raises SandboxError."""
    tested, count = _counted(data, answer, judge)
    if not tested.right:
        return Fast(tested, None, None, tested.reason)
    if count is None:
        return Fast(tested, None, None, "right, but with too many instructions to be counted")
    slow = _of_slow(data, judge)
    if slow is None:
        return Fast(tested, count, None, "not judged: the instructions of the slow program cannot be counted")
    faster = slow >= FASTER * count
    reason = f"right, but not faster: {count} instructions; the slow program has {slow}"
    return Fast(tested, count, slow, "" if faster else reason)


def _counted(data: Mapping[str, Any], answer: str, judge: Judge) -> tuple[Tested, int | None]:
    count = InstructionCount()
    # From 3.13 on the compiler joins instructions of one line: each line has one statement.
    tested = run_tests(data, unparsed(answer), judge, count=count)
    return tested, count.instructions if count.is_complete else None


_SLOW: dict[str, int | None] = {}
"""Digest of a task -> the instructions of its slow program."""


def _of_slow(data: Mapping[str, Any], judge: Judge) -> int | None:
    """The instructions of the slow program; None: it fails its tests, or has too many."""
    parts = [data[name] for name in ("slow", "setup", "driver", "test_setup", "tests", "cases")]
    key = hashlib.sha256(json.dumps([*parts, data.get("environment")]).encode()).hexdigest()
    if key not in _SLOW:
        tested, count = _counted(data, data["slow"], judge)
        _SLOW[key] = count if tested.right else None
    return _SLOW[key]
