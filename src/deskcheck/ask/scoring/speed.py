"""Programs that are to be made faster, judged by how many instructions their runs have.

After PIE (Shypula et al. 2024, arXiv:2302.07867): an answer counts as faster where it is right and at least
1.1 times as fast as the slow program, and where it is wrong or slower its speedup is 1. There, time is
measured on a simulated machine; here, the events are counted that a recording of the run at instruction level
would have: the instructions of Python, in the runs in which its tests pass. Lines are not counted: two
statements on one line would be faster than on two. For the same reason both programs are laid out alike
before (`ast.unparse`). The figure is the same on every machine with the same
version of Python, however busy it is.

Not: what C code does. ``sum(xs)`` is a few instructions however long ``xs`` is, and so is a sort. The count
is the word of the answer's process: code that is made at run time, modules that are not installed ones, other
processes and interpreters are refused while instructions are counted, but an answer made against the
recorder itself is not stopped.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deskcheck.ask.scoring.programs import InstructionCount, Judge, Tested, run_tests
from deskcheck.sources.text.python import unparsed

FASTER = 1.1
"""Times as few instructions as the slow program has."""


@dataclass(frozen=True, slots=True)
class Fast:
    """tested: what came of the tests. instructions, slow: those of the answer and of the slow program; None:
    not known.
    reason: why the answer is not faster; empty if it is."""

    tested: Tested
    instructions: int | None
    slow: int | None
    reason: str

    @property
    def cost(self) -> float:
        """Instructions as a share of the slow program's; 1 where the answer is wrong, or has more. Its
        inverse is the speedup."""
        if not self.tested.right or not self.instructions or not self.slow:
            return 1.0
        return min(1.0, self.instructions / self.slow)


def run_fast(data: Mapping[str, Any], answer: str, judge: Judge) -> Fast:
    """What comes of an answer. data: of its sample. Raises SandboxError."""
    tested, count = _counted(data, answer, judge)
    if not tested.right:
        return Fast(tested, None, None, tested.reason)
    if count is None:
        return Fast(tested, None, None, "right, with too many instructions to be counted")
    slow = _of_slow(data, judge)
    if slow is None:
        return Fast(tested, count, None, "the instructions of the slow program cannot be counted: not judged")
    if slow < FASTER * count:
        return Fast(
            tested,
            count,
            slow,
            f"right, and not faster: {count} instructions, where the slow program has {slow}",
        )
    return Fast(tested, count, slow, "")


def _counted(data: Mapping[str, Any], answer: str, judge: Judge) -> tuple[Tested, int | None]:
    count = InstructionCount()
    # From 3.13 on the compiler joins some instructions, but only of one line: a statement stands on each.
    tested = run_tests(data, unparsed(answer), judge, count=count)
    return tested, count.instructions if count.whole else None


_SLOW: dict[str, int | None] = {}
"""Instructions of slow programs that were counted, by a digest of their task."""


def _of_slow(data: Mapping[str, Any], judge: Judge) -> int | None:
    """The slow program's instructions; None: it fails its tests, or has too many."""
    parts = [data[name] for name in ("slow", "setup", "driver", "test_setup", "tests", "cases")]
    key = hashlib.sha256(json.dumps([*parts, data.get("environment")]).encode()).hexdigest()
    if key not in _SLOW:
        tested, count = _counted(data, data["slow"], judge)
        _SLOW[key] = count if tested.right else None
    return _SLOW[key]
