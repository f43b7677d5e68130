"""The comparison of two long runs fills none of the caller's memory, and says what it says of short ones."""

import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable

import pytest

from deskcheck.recording.comparison import apart
from deskcheck.recording.comparison import runs as comparison
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.recording.recording import RunResult
from deskcheck.sandbox import Sandbox, Tracing

FORGED = """
import functools, json, sys, tempfile
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.recording import RunResult
from deskcheck.recording.block import save, saved
from deskcheck.recording.comparison.runs import difference

def filled(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) >> 10 for line in file if line.startswith(name))

def forged(last):
    stream = tempfile.TemporaryFile()
    text = '{"1":{"kind":"list","type":"list","items":[' + "0," * 500_000 + f"{last}" + "]}}"
    row = [0, 0, "call", 0, "f", "p.py", 1, 0, '{"x":{"ref":1}}', None, None, text, None, None, None, None, None]
    save(json.dumps(row).encode(), stream)
    return stream

one, other = forged(1), forged(2)
ending = RunResult(outcome=Outcome.RETURNED)
before = filled("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
where = difference((ending, functools.partial(saved, one)), (ending, functools.partial(saved, other)))
print(json.dumps([where[:60], filled("VmHWM") - before]))
"""
PROGRAM = """
def f(n):
    kept = []
    for i in range(n):
        kept.append({str(i), str(i + 1), str(i + 2)})
    return [each for some in kept for each in some] if %r else len(kept)
f(%d)
"""


@pytest.mark.slow
def test_forged_rows_do_not_grow_the_caller() -> None:
    """Rows of a megabyte that stand for some hundred megabytes of values: no more than 40 MB here."""
    ran = subprocess.run(
        [sys.executable, "-c", FORGED], capture_output=True, text=True, check=False, cwd=tempfile.gettempdir()
    )
    assert ran.returncode == 0, ran.stderr
    where, grown = json.loads(ran.stdout)
    assert where.startswith("event 0 (p.py line 1): x is [0, 0, 0")
    assert grown <= 40


Run = tuple[RunResult, Callable[[], Iterable[bytes]]]


def runs(ordered: bool, count: int = 60) -> tuple[Run, Run]:
    """Two runs of a program whose sets lie in another order; whether that can be seen."""
    found = []
    for seed in (0, 1):
        blocks: list[bytes] = []
        with Sandbox("trusted", workers=1, hash_seed=seed) as sandbox:
            run_result = sandbox.run_one(
                Program(id="p", code=PROGRAM % (ordered, count)), tracing=Tracing(blocks.append)
            )
        assert run_result.outcome is Outcome.RETURNED, run_result
        found.append((run_result, functools.partial(iter, blocks)))
    return found[0], found[1]


@pytest.mark.parametrize("ordered", [False, True])
def test_another_process_says_the_same(ordered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of runs that are alike but for the order in sets, and of runs that are not."""
    first, second = runs(ordered)
    monkeypatch.setattr(comparison, "_HERE_BYTES", 1 << 40)
    here = comparison.difference(first, second)
    monkeypatch.setattr(comparison, "_HERE_BYTES", 0)
    assert comparison.difference(first, second) == here
    assert (here is None) is not ordered


def test_what_is_too_large_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the other process has not the memory, the runs are not taken for the same."""
    first, second = runs(False, 400)
    monkeypatch.setattr(comparison, "_HERE_BYTES", 0)
    monkeypatch.setattr(apart, "_MEMORY_BYTES", 1 << 24)
    assert comparison.difference(first, second) == apart._TOO_LARGE


@pytest.mark.parametrize("here", [0, 1 << 40], ids=["in another process", "here"])
def test_rows_that_do_not_add_up_are_a_difference(here: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program may forge rows that are right each by itself, and lead to an object that is not there."""
    monkeypatch.setattr(comparison, "_HERE_BYTES", here)
    run_result = RunResult(outcome=Outcome.RETURNED)
    found = []
    for number in (10, 11):
        row = [0, 0, "call", 0, "f", "p.py", 1, 0, json.dumps({"x": {"ref": number}}), *[None] * 8]
        found.append((run_result, functools.partial(iter, [json.dumps(row).encode()])))
    where = comparison.difference(found[0], found[1])
    assert where == "the rows do not add up: a value refers to object #10, which is missing"


def test_a_failure_of_ours_is_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other process that ends otherwise than by its limits is an error, with what it said."""
    first, second = runs(False)
    monkeypatch.setattr(comparison, "_HERE_BYTES", 0)
    monkeypatch.setattr(apart, "_PACKAGE_ROOT", "/nowhere")
    monkeypatch.setattr(apart, "_MAIN", "raise SystemExit('no such module {root}')")
    with pytest.raises(RuntimeError, match="no such module /nowhere"):
        comparison.difference(first, second)
