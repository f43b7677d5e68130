"""What a method did, listed and shown: texts of a model that would do harm are text."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deskcheck.ask.results.results import result_of
from deskcheck.ask.results.rows import ScoredSample
from deskcheck.ask.results.tables import write_results
from deskcheck.recording import InputError
from deskcheck.terminal import console_out
from deskcheck.view.attempts_page import answered_in, attempts_table, of_sample
from tests.command import deskcheck
from tests.view.conftest import HOSTILE

TOLD: dict[str, Any] = {
    "calls": 2,
    "runs": 3,
    "tokens": 500,
    "ended": f"passes {HOSTILE}",
    "left_out": 1,
    "attempts": [
        {
            "kind": "call",
            "step": "draft",
            "prompt": f"[the question] {HOSTILE}",
            "completion": HOSTILE,
            "stop_reason": "max_tokens",
            "tokens": [90, 9],
        },
        {
            "kind": "tests",
            "step": "round 0",
            "code": f"def f():\n    {HOSTILE}",
            "passed": 0,
            "of": 2,
            "verdict": f"test 1 of 2: {HOSTILE}",
        },
        {
            "kind": "trace",
            "step": f"true trace of f({HOSTILE})",
            "trace": f"3: x={HOSTILE}\nraise 3 ! ValueError",
            "verdict": "ValueError",
        },
        {
            "kind": "calls",
            "step": "program 1",
            "code": "x",
            "verdict": f"(1) returned 2\n(2) raised {HOSTILE}",
        },
        {"kind": "tests", "step": "round 1", "code": "w" * 5000, "passed": 2, "of": 2},
        {"kind": "choice", "step": "majority", "verdict": "2 of 3 agree\x1b[31m"},
    ],
}
ROW = ScoredSample(
    id="half:program",
    program="half",
    cluster="half",
    question="mine",
    model="deskcheck/scripted",
    solver="repair:trace=true",
    completion=HOSTILE,
    answer=HOSTILE,
    expected="",
    score=0.0,
    reason=HOSTILE,
    data='{"form": "program"}',
    prompt=f"Do it. {HOSTILE}",
    attempts=json.dumps(TOLD),
)


def write_run(folder: Path) -> Path:
    """A run folder with two samples, each by a method with attempts and by one without."""
    rows = (ROW, replace(ROW, id="other:program", score=1.0, reason=""))
    direct = tuple(replace(row, solver="direct", attempts="") for row in rows)
    results = [
        result_of("mine", "", found[0].solver, ROW.model, found, {}, folder) for found in (rows, direct)
    ]
    write_results(results, folder, {})
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path)


def test_the_command_lists_and_shows_attempts(run: Path) -> None:
    """The list, one sample as table and as JSON, the page; whoever answered without attempts is not among them."""
    listed = deskcheck("view", run, cwd=run)
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.count("repair:trace=true") == 2
    assert "direct" not in listed.stdout
    assert "\x1b" not in listed.stdout
    shown = deskcheck("view", run, "half", "--terminal", cwd=run)
    assert "0 of 2 pass; test 1 of 2" in " ".join(shown.stdout.split())
    told = json.loads(deskcheck("view", run, "half", "--json", cwd=run).stdout)
    (answered,) = told["answered"]
    assert answered["attempts"] == TOLD["attempts"]
    written = deskcheck("view", run, "half", "--out", "page.html", cwd=run)
    assert written.returncode == 0, written.stderr
    assert HOSTILE not in (run / "page.html").read_text()
    for wrong, message in (
        (("program",), "2 samples have 'program' in their id. The samples are: half:program, other:program."),
        (("gone",), "unknown sample 'gone'"),
        (("half", "--method", "majority"), "has no transcripts of methods that run code"),
        (("--out", "x.html"), "a page shows one sample: give its ID"),
        (("half", "--serve"), "cannot be shown with --serve or --beside"),
    ):
        done = deskcheck("view", run, *wrong, cwd=run)
        assert done.returncode == 2
        assert message in done.stderr


def test_what_is_asked_for_by_a_part_of_its_id(run: Path) -> None:
    found = answered_in(run, method="repair:trace=true")
    assert [each.row.id for each in of_sample(found, "half:program")] == ["half:program"]
    console_out().print(attempts_table(found))
    with pytest.raises(InputError, match="has no transcripts"):
        answered_in(run, model="another")
