"""One notebook, program or row that goes wrong costs itself: the others of its batch get what is theirs."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskcheck.errors import DeskcheckError, RecordingError, own_failures
from deskcheck.notebook.check.check import NotebookStatus, check_notebooks
from deskcheck.notebook.check.normalise import Normaliser
from deskcheck.notebook.settings import CheckSettings
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.record import record
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Program
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.confinement import Confinement

TRUSTED = RecordSettings(sandbox=Confinement.TRUSTED, repeat=False)


def notebook(output: Any = "1\n", **metadata: Any) -> str:
    shown = [{"output_type": "stream", "name": "stdout", "text": output}]
    cell = {
        "cell_type": "code",
        "id": "c",
        "source": "print(1)",
        "outputs": shown,
        "execution_count": 1,
        "metadata": {},
    }
    return json.dumps({"cells": [cell], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def test_bad_notebooks_of_a_folder(tmp_path: Path) -> None:
    """Each has its status and a reason; a pipe in the folder is not waited for."""
    pytest.importorskip("ipykernel", reason="would have proved that bad notebooks do not end a check")
    (tmp_path / "digits.ipynb").write_text('{"cells": [], "nbformat": ' + "9" * 5000 + "}")
    (tmp_path / "language.ipynb").write_text(notebook(language_info={"name": ["ruby"]}))
    (tmp_path / "deep.ipynb").write_text('{"cells": ' + "[" * 100_000)
    (tmp_path / "good.ipynb").write_text(notebook())
    (tmp_path / "zero.ipynb").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.ipynb")
    report = check_notebooks([tmp_path], CheckSettings(runs=1, sandbox=Confinement.TRUSTED))
    statuses = {Path(each.path).stem: each.status for each in report.notebooks}
    assert statuses.pop("good") is NotebookStatus.SAME
    assert set(statuses.values()) == {NotebookStatus.UNREADABLE}
    assert len(statuses) == 5
    assert all(each.detail for each in report.notebooks if each.status is NotebookStatus.UNREADABLE)


def test_a_failure_of_our_own_is_the_status_of_its_notebook(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A rule that raises on one notebook leaves the other its verdict; the report has the traceback."""
    pytest.importorskip("ipykernel", reason="would have proved that a failure of ours does not end a check")

    def rule(text: str) -> str:
        if "strange" in text:
            raise ZeroDivisionError("the rule divides")
        return text

    (tmp_path / "a.ipynb").write_text(notebook("strange\n"))
    (tmp_path / "b.ipynb").write_text(notebook("1 \n"))
    settings = CheckSettings(runs=1, sandbox=Confinement.TRUSTED, normalisers=(Normaliser("rule", rule),))
    first, second = check_notebooks([tmp_path], settings).notebooks
    assert (first.status, second.status) == (NotebookStatus.HARNESS_ERROR, NotebookStatus.DIFFERENT)
    assert first.detail.startswith("deskcheck failed on it: ZeroDivisionError: the rule divides\nTraceback")
    assert "line" in first.detail
    assert [entry.message for entry in caplog.records if entry.levelno == logging.ERROR] == [
        f"{tmp_path / 'a.ipynb'}: deskcheck failed on it: ZeroDivisionError: the rule divides"
    ]


def test_a_program_that_cannot_be_saved(tmp_path: Path) -> None:
    """It is a problem with a reason; the programs before and after it are recorded."""
    programs = [Program(id=id_, code="x = 1") for id_ in ("a", "\ud800", "b")]
    summary = record_programs(programs, tmp_path, TRUSTED, workers=1, note=lambda text: None)
    assert sorted(recording.id for recording in Recordings(tmp_path)) == ["a", "b"]
    assert [*summary.problems] == ["\ud800"]
    assert "surrogates not allowed" in summary.problems["\ud800"]


@pytest.fixture
def limited_digits() -> Iterator[None]:
    """Python's own limit on digits, which a library that an earlier test has used may have taken away."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(4300)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.usefixtures("limited_digits")
def test_rows_that_cannot_be_used(tmp_path: Path) -> None:
    """Each row that is no function is named with its line; all others are recorded."""
    good = {"code": "def f(a):\n    return a", "entry": "f", "inputs": ["(1)"]}
    lines = [
        json.dumps(good),
        json.dumps(good | {"entry": "g"}),
        '{"code": ',
        "[1]",
        json.dumps(good)[:-1] + ', "x": ' + "9" * 5000 + "}",
        json.dumps(good | {"code": "(" * 5000}),
        json.dumps(good),
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
    notes: list[str] = []
    done = record(str(tmp_path / "rows.jsonl"), out=tmp_path / "out", settings=TRUSTED, note=notes.append)
    assert sorted(recording.id for recording in Recordings(tmp_path / "out")) == ["rows_1_0", "rows_7_0"]
    assert [place.rpartition(":")[2] for place in done.unusable] == ["2", "3", "4", "5", "6"]
    assert all(place in why for place, why in done.unusable.items())
    assert sum("left out" in note for note in notes) == 5
    assert done.to_dict()["unusable"] == done.unusable


def test_errors_of_ours_and_interrupts_end_a_batch() -> None:
    """A disk that is full is full for the next one too, and Ctrl-C means all of it."""
    told: list[str] = []
    for error in (RecordingError("full"), DeskcheckError("x"), KeyboardInterrupt(), SystemExit(1)):
        with pytest.raises(type(error)), own_failures(told.append):
            raise error
    assert told == []


@pytest.mark.parametrize(
    "name", ["events-00000.parquet", "recordings-00000.parquet", "recordings-00001.parquet"]
)
def test_a_pipe_in_a_folder_of_recordings(tmp_path: Path, name: str) -> None:
    """It is refused at once, in a process of its own, with its name."""
    record_programs([Program(id="a", code="x = 1")], tmp_path, TRUSTED, workers=1)
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    code = "import sys; from deskcheck.recording.reader import Recordings; print(Recordings(sys.argv[1]).ids)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert f"RecordingError: {tmp_path / name}" in done.stderr
    assert "named pipe" in done.stderr
