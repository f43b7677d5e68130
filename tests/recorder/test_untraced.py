"""A third run without the tracer: what the tracer changes in a program is said, and not asked about."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from deskcheck.ask.questions.gathering import Gathering
from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.ask.questions.settings import Sampling
from deskcheck.recorder.programs import RecordSummary, record_programs, without_tracer
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.comparison.runs import ending_difference
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Mode, Program
from deskcheck.recording.reader import Recordings
from deskcheck.recording.recording import UNTRACED, RunResult
from deskcheck.sandbox.surroundings.written import written
from deskcheck.tracer import tracer_class

# A process under the native tracer has memory that it shares with the recorder.
SHARED = "open('/proc/self/maps').read().count('memfd')"
CHANGED = {
    "result": f"import os\ndef f():\n    return {SHARED}\n",
    "exception": f"import os\ndef f():\n    raise ValueError({SHARED})\n",
    "output": f"import os\ndef f():\n    print({SHARED})\n",
    "errors": f"import os, sys\ndef f():\n    print({SHARED}, file=sys.stderr)\n",
    "status": f"import os\ndef f():\n    os._exit({SHARED})\n",
    "outcome": f"import os\ndef f():\n    if {SHARED}:\n        raise ValueError('odd')\n",
    "file": f"import os\ndef f():\n    open('n.txt', 'w').write('x' * {SHARED})\n    return 1\n",
    "name": f"import os\ndef f():\n    os.mkdir(str({SHARED}))\n",
}
SAME = {
    "quiet": "def f():\n    with open('n.txt', 'w') as s:\n        s.write('same')\n    print('same')\n    return [1]\n",
    "raises": "def f():\n    raise ValueError('same')\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[RecordSummary, Recordings]:
    programs = [
        Program(id=name, code=code, mode=Mode.CALL, entry="f", arguments="()")
        for name, code in (CHANGED | SAME).items()
    ]
    place = tmp_path_factory.mktemp("runs")
    return record_programs(programs, place, RecordSettings(), explain=False), Recordings(place)


@pytest.mark.skipif(tracer_class().name == "reference", reason="the reference tracer shares no memory")
@pytest.mark.parametrize("name", CHANGED)
def test_what_the_tracer_changes_is_said(name: str, folder: tuple[RecordSummary, Recordings]) -> None:
    """The recording names the difference, counts in the summary, and is asked about by no kind."""
    summary, recordings = folder
    recording = recordings[name]
    assert recording.repeatable is False
    assert recording.difference is not None
    assert recording.difference.startswith(UNTRACED)
    assert summary.untraced[name] == recording.difference
    assert name not in summary.not_repeatable
    excluded: Counter[str] = Counter()
    assert not [*QUESTIONS["path"](recording, excluded=excluded)]
    if recording.outcome is Outcome.RETURNED:
        assert excluded == {"it ends differently without the tracer": 1}


def test_the_user_can_have_them_asked_about(folder: tuple[RecordSummary, Recordings]) -> None:
    """One option, for what is not repeatable and for what the tracer has changed."""
    _, recordings = folder
    doubted = [one for one in recordings if one.repeatable is False and one.outcome is Outcome.RETURNED]
    for doubtful, asked in ((False, 0), (True, len(doubted))):
        gathering = Gathering(doubted, ["path"], sampling=Sampling(doubtful=doubtful))
        samples, _ = gathering.sets()["path", ""]
        assert len({sample.program for sample in samples}) == asked


@pytest.mark.parametrize("name", SAME)
def test_a_program_that_the_tracer_leaves_alone_is_repeatable(
    name: str, folder: tuple[RecordSummary, Recordings]
) -> None:
    summary, recordings = folder
    assert recordings[name].repeatable is True
    assert recordings[name].difference is None
    assert not {name} & (summary.untraced.keys() | summary.not_repeatable.keys())


def test_runs_that_a_limit_ended_are_not_compared() -> None:
    """The same limit ends a run without the tracer elsewhere, or not at all."""

    def run() -> RunResult:
        raise AssertionError("it must not run")

    assert without_tracer(RunResult(outcome=Outcome.TIMED_OUT), run) is None


@pytest.mark.parametrize(
    ("one", "other", "where"),
    [
        ({"result": "{#1, #2}"}, {"result": "{#2, #1}"}, None),
        ({"result": "{1, 2}", "result_builtin": True}, {"result": "{2, 1}"}, "result: {1, 2} and {2, 1}"),
        ({"result": "1" * 500}, {"result": "2" * 500}, f"result: {'1' * 80}... and {'2' * 80}..."),
        ({"files": {"a": "1 bytes, x"}}, {}, "file 'a': 1 bytes, x and missing"),
        ({"exit_status": None, "stderr": "x"}, {"stderr": "y"}, None),
    ],
)
def test_endings_are_compared_as_they_can_be(
    one: dict[str, object], other: dict[str, object], where: str | None
) -> None:
    """Sets of objects have no order; long texts are cut; a call among others has no process of its own."""
    usual: dict[str, Any] = {"outcome": Outcome.RETURNED, "exit_status": 0}
    first, second = (RunResult(**(usual | each)) for each in (one, other))
    assert ending_difference(first, second) == where


def test_written_files_are_looked_at_with_care(tmp_path: Path) -> None:
    """No link is followed, no pipe opened; what cannot be told apart by its name is by its content."""
    import os

    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    (tmp_path / "inner" / "deep").mkdir(parents=True)
    (tmp_path / "inner" / "deep" / "a.txt").write_text("a")
    (tmp_path / "__pycache__").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "in").symlink_to("a.txt")
    found = written(str(tmp_path))
    assert found["a.txt"] != found["b.txt"]
    assert found["a.txt"] == found["inner/deep/a.txt"]
    assert found["pipe"] == "special file"
    assert found["in"] == "link to a.txt"
    assert found.keys() == {"a.txt", "b.txt", "inner", "inner/deep", "inner/deep/a.txt", "pipe", "in"}


def test_the_names_of_very_many_files_are_one_digest(tmp_path: Path) -> None:
    """The report has a bound, and still tells two folders apart."""
    for number in range(1500):
        (tmp_path / f"{number:0100d}").touch()
    found = written(str(tmp_path))
    (tmp_path / f"{1499:0100d}").write_text("x")
    other = written(str(tmp_path))
    assert len(found) < 1500
    assert found["..."] != other["..."]
