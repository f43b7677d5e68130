"""What the library hands out, it hands out for good: no later event and no other caller changes it.

Events and states of traces: tests/recording/test_trace.py.
"""

from pathlib import Path
from typing import Any, cast

import pytest

from deskcheck.notation import RunningTexts
from deskcheck.notation.following import following
from deskcheck.notebook import states
from deskcheck.notebook.kernel.replayer import packages
from deskcheck.notebook.trajectory.trajectory import Execution, Status
from deskcheck.recorder.programs import RecordSummary
from deskcheck.recorder.suite import SuiteSummary
from deskcheck.recording import Environment, Outcome, Program, Row, RunResult
from deskcheck.recording.writer import Writer
from deskcheck.sources.check import CheckReport


def test_done_of_a_writer_is_for_reading(tmp_path: Path) -> None:
    """`Writer.done` tells what is done, as it comes about; nothing can be put there."""
    with Writer(tmp_path) as writer:
        done = writer.done
        with pytest.raises(AttributeError):
            cast(Any, done).add("p")
        assert "p" not in done
        spool = writer.begin(Program(id="p", code=""))
        spool.finish(
            RunResult(outcome=Outcome.RETURNED), Environment.here(tracer="none", hash_seed=None, packages={})
        )
        assert done == {"p"}


def test_rows_of_dataclasses() -> None:
    """What `to_dict` gives is no part of what it was asked of."""
    run_result = RunResult(outcome=Outcome.RETURNED, sources={"a.py": "1"})
    run_result.to_dict()["sources"]["b.py"] = "2"
    assert run_result.sources == {"a.py": "1"}
    report = CheckReport(wrong={"p": "why"})
    report.to_dict()["wrong"].clear()
    assert report.wrong == {"p": "why"}
    made = RecordSummary(not_repeatable={"p": "why"})
    made.to_dict()["not_repeatable"].clear()
    assert made.not_repeatable == {"p": "why"}
    summary = SuiteSummary()
    summary.tests["passed"] += 2
    told = summary.to_dict()
    assert told["tests"] == {"passed": 2}
    told["tests"].clear()
    assert summary.tests == {"passed": 2}


def test_what_is_computed_once_for_all() -> None:
    """Who changes what a cached function gave changes nothing for the next, or cannot."""
    with pytest.raises(TypeError):
        cast(Any, following("x = 1\ny = 2"))[1] = ()
    assert following("x = 1\ny = 2") == {1: (2,), 2: ()}
    found = packages()
    assert found.pop("pytest")
    assert "pytest" in packages()


def test_variables_of_a_notebook() -> None:
    """A state's variables are its own: taking one away does not take it from the states after it."""
    row = {"type": "int", "hash": "1", "value": 1, "change": "added"}
    first: dict[str, Any] = {"variables": {"a": row}, "count": 1, "cost_s": 0.0}
    second: dict[str, Any] = {"variables": {"b": row}, "count": 2, "cost_s": 0.0}
    steps = [
        Execution(cell="", source="", status=Status.OK, order=(), state=each) for each in (first, second)
    ]
    seen = []
    for _, state in states(steps):
        assert state is not None
        seen.append(list(state.variables))
        cast(Any, state.variables).clear()
    assert seen == [["a"], ["a", "b"]]


def test_moments_of_running_texts() -> None:
    """A moment stays what it was while the trace is followed."""
    running = RunningTexts(file="p.py")
    moments, texts = [], []
    for index in range(4):
        place = (index, "line" if index else "call", 0, "f", "p.py", index + 1, 0)
        running.advance(
            Row(0, *place, f'{{"a": {index}}}', None, None, None, None, None, None, None, '{"deep": 1}')
        )
        moments.append(running.moment)
        texts.append(running.moment.canonical())
    assert [moment.canonical() for moment in moments] == texts
    assert len(set(texts)) == 4
