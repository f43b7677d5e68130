"""The observer changes nothing: every program in tests/programs/ prints and ends as it does without us.

Each runs three times: as a plain script, in the sandbox, and in the sandbox under the tracer. The first two
tell what the sandbox changes, the last two what the tracer does. Not: time, memory, and addresses.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from deskcheck.recording import Outcome, Program, RunResult
from deskcheck.sandbox import Tracing, run
from deskcheck.sandbox.server import _environment
from deskcheck.tracer import ReferenceTracer, tracer_class
from tests.sample import spread

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.py"))

OURS = re.compile(
    r"<bound method _Thread\.on_event of <deskcheck\.tracer\.reference\._Thread object at \w+>>"
)

EXCEPTIONS: dict[str, tuple[str, Callable[[str], str]]] = {
    "locals_of_frames": (
        "frame.f_trace is what traces the frame: under sys.settrace it is ours, and nothing hides it",
        lambda output: OURS.sub("None", output),
    ),
    "settrace_checks_itself": (
        "frame.f_trace is what traces the frame: under sys.settrace it is ours, and nothing hides it",
        lambda output: OURS.sub("None", output),
    ),
    "weakref_callbacks": (
        "an object is told from a later one at its address by a weak reference, which weakref can list",
        lambda output: re.sub(r"^2 \[<weakref at \w+; to 'Thing' at \w+>\]$", "1 []", output, flags=re.M),
    ),
}
"""What a tracer cannot help showing: why, and the output without it."""
OF_THE_REFERENCE = {"locals_of_frames", "settrace_checks_itself"}
"""Those that only a trace function in Python shows."""


class Seen(NamedTuple):
    """What a run shows to whoever started it."""

    stdout: str
    last_of_stderr: str
    exit_status: int | None


def plainly(path: Path, scratch: Path) -> Seen:
    """Run a copy of a program as ``python program.py`` in a folder of its own."""
    (scratch / path.name).write_bytes(path.read_bytes())
    done = subprocess.run(
        [sys.executable, "-s", path.name],
        cwd=scratch,
        env=_environment(str(scratch), 0),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=True,
        timeout=300,
        check=False,
    )
    return seen(
        done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"), done.returncode
    )


def seen(stdout: str, stderr: str, status: int | None) -> Seen:
    return Seen(stdout, stderr.rstrip().rpartition("\n")[2], status)


def sandboxed(path: Path, blocks: list[bytes] | None = None) -> tuple[Seen, RunResult]:
    program = Program(id=path.stem, code=path.read_text(encoding="utf-8"), filename=path.name)
    run_result = run(program, tracing=None if blocks is None else Tracing(blocks.append))
    return seen(run_result.stdout, run_result.stderr, run_result.exit_status), run_result


@pytest.mark.parametrize("path", spread(PROGRAMS, 40, 12), ids=lambda path: path.stem)
def test_a_program_does_not_notice(path: Path, tmp_path: Path) -> None:
    """Standard output, exit status and the last line of standard error are those of the plain script, in the
    sandbox and under the tracer, and the tracer has seen it run."""
    plain = plainly(path, tmp_path)
    boxed, _ = sandboxed(path)
    assert boxed == plain, "the sandbox changed something"
    blocks: list[bytes] = []
    watched, run_result = sandboxed(path, blocks)
    assert run_result.outcome is not Outcome.HARNESS_ERROR, run_result.detail
    assert blocks
    if path.stem in EXCEPTIONS and (tracer_class() is ReferenceTracer or path.stem not in OF_THE_REFERENCE):
        why, without_us = EXCEPTIONS[path.stem]
        assert watched.stdout != plain.stdout, f"no exception any more: {why}"
        watched = watched._replace(stdout=without_us(watched.stdout))
    assert watched == plain, "the tracer changed something"


def test_exceptions_are_programs() -> None:
    """The table of exceptions names programs that there are."""
    assert set(EXCEPTIONS) <= {path.stem for path in PROGRAMS}
