"""Published programs at level strict: the verdicts that are known of them, also on a busy machine."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.sandbox import Limits, Sandbox
from tests.sample import some

SHARED = Path(os.environ.get("DESKCHECK_SHARED", Path(__file__).parents[3] / "shared")) / "data"
LIMITS = Limits(cpu_s=10, wall_s=500, memory_bytes=1 << 30)
"""CPU time decides; what is endless is told by it also where eight others want the processor."""
BUSY = 8

FILES = {
    "HumanEval": "humaneval/HumanEval.jsonl",
    "MBPP": "mbpp/mbpp_730.jsonl",
    "HumanEvalFix": "humanevalfix/humanevalpack_python.jsonl.gz",
    "HumanEvalFix, buggy": "humanevalfix/humanevalpack_python.jsonl.gz",
    "HumanEval Pro": "code_eval_pro/humaneval_pro.json.gz",
    "MBPP Pro": "code_eval_pro/mbpp_pro.json.gz",
}
NAME_ERRORS = {"MBPP/367", "MBPP/927"}
"""Their setup uses a class of trees that only the solution defines, after it."""
ENDLESS = {"Python/10", "Python/156"}
"""Bugs that never end."""
HUGE = "Python/160"
"""A bug that raises numbers to powers of powers: years, or more memory than there is."""


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a set's file: lines of JSON, or one array."""
    path = SHARED / FILES[name]
    if not path.exists():
        pytest.skip(
            f"no {FILES[name]} in DESKCHECK_SHARED or ../shared: would have proved the verdicts on {name}"
        )
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text("utf-8")
    if ".jsonl" in path.name:
        return [json.loads(line) for line in text.splitlines()]
    whole: list[dict[str, Any]] = json.loads(text)
    return whole


def programs(name: str) -> list[Program]:
    """Each row as the module that its PROVENANCE.md says to run."""
    found = []
    for n, row in enumerate(rows(name)):
        match name:
            case "HumanEval":
                id, parts = row["task_id"], [row["prompt"] + row["canonical_solution"], row["test"]]
                parts.append(f"check({row['entry_point']})")
            case "MBPP":
                id, parts = f"MBPP/{row['task_id']}", [row["test_setup_code"], row["code"], *row["test_list"]]
            case "HumanEvalFix":
                id, parts = row["task_id"], [row["declaration"] + row["canonical_solution"], row["test"]]
            case "HumanEvalFix, buggy":
                id, parts = row["task_id"], [row["declaration"] + row["buggy_solution"], row["test"]]
            case _:
                # The new problem continues the raw one, as in the set's own harness.
                keys = ("raw_problem", "raw_solution", "new_problem", "new_solution", "test_code")
                id, parts = f"{name}/{n}", [row[key] for key in keys]
        found.append(Program(id=id, code="\n".join(parts) + "\n"))
    return found


def expected(name: str, id: str) -> set[Outcome]:
    if name == "HumanEvalFix, buggy":
        if id == HUGE:
            return {Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY}
        return {Outcome.TIMED_OUT} if id in ENDLESS else {Outcome.RAISED}
    return {Outcome.RAISED} if id in NAME_ERRORS else {Outcome.RETURNED}


def wrong_verdicts(name: str) -> dict[str, str]:
    """The verdicts that are not those expected, by the program's id; a program that got none is one."""
    of_set = programs(name)
    verdicts = {program.id: "no verdict" for program in of_set}
    with Sandbox(level="strict", workers=2, limits=LIMITS) as sandbox:
        for result in sandbox.run(of_set):
            run_result = result.run_result
            if run_result.outcome in expected(name, result.program.id):
                del verdicts[result.program.id]
            else:
                verdicts[result.program.id] = f"{run_result.outcome}: {run_result.detail}"
    return verdicts


@contextmanager
def busy_machine() -> Iterator[None]:
    """Eight processes that want the processor all the time. Each ends by itself, whatever becomes of this one."""
    code = "import time\nend = time.monotonic() + 900\nwhile time.monotonic() < end: sum(range(10**6))"
    busy = [subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL) for _ in range(BUSY)]
    try:
        yield
        assert all(process.poll() is None for process in busy), "the load did not last"
    finally:
        for process in busy:
            process.kill()
            process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("name", some(FILES, *list(FILES)[::4]))
def test_verdicts(name: str) -> None:
    """References pass and buggy versions fail, every one, as the sets' own pages say."""
    assert wrong_verdicts(name) == {}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FILES)
def test_verdicts_do_not_depend_on_the_load(name: str) -> None:
    """The same with eight busy processes beside: CPU time decides, not the clock."""
    with busy_machine():
        assert wrong_verdicts(name) == {}
