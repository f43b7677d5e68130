"""Rows that a hostile program writes in the recorder's name, as many and as large as the channel takes."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import deskcheck
from tests.recorder.forging import FORGERS
from tests.sample import some

ROOT = Path(__file__).parents[2]
GROWN_KIB = 40_000
"""That the caller may fill beside what it had, after it had recorded an honest program."""
_TOO_MUCH = (
    *("deeper", "as JSON", "as JSON, of lists", "as JSON, of numbers", "more small rows than a block has"),
)
"""Rows that no tracer writes: the program is killed for them. The others are rows, if false ones."""
_CUT = (
    *("as many objects as there may be", "objects with wide numbers"),
    *("small rows with long names", "few rows with long names"),
)
"""More than is kept of a trace, which says so."""


def record(folder: Path, name: str) -> tuple[int, str, str, str]:
    """KiB that the caller grew by, outcome, why the trace is cut, and the detail."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.recorder.forging", str(folder), name],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    grown, outcome, cut, detail = done.stdout.rstrip("\n").split(" ", 3)
    return int(grown), outcome, cut, detail


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("few rows with long names", marks=pytest.mark.slow),
        *some(each for each in FORGERS if each != "few rows with long names"),
    ],
)
def test_the_caller_does_not_grow_and_the_folder_can_be_read(tmp_path: Path, name: str) -> None:
    """The verdict names what was wrong, programs beside it are there, and every command goes on."""
    grown, outcome, cut, detail = record(tmp_path / "runs", name)
    assert grown <= GROWN_KIB, f"{grown} KiB"
    if name in _TOO_MUCH:
        assert outcome == "killed"
        assert detail.startswith("it wrote to the recorder's channel: malformed events: ")
    elif name in ("an end", "a value that is no end"):
        assert outcome == "returned"  # by what it said with the key: its trace is its own word too
    else:
        assert (outcome, detail) == ("exited", "status 0, without a word")
        assert cut == ("bytes" if name in _CUT else "ended")
    for command in (
        ("runs", "check", "runs"),
        ("view", "runs"),
        ("runs", "show", "runs", "better"),
        ("runs", "show", "runs", name),
        ("view", "runs", name, "--out", "page.html"),
        ("offline", "questions", "runs", "-q", "output,state,next_line,path", "--out", "questions.jsonl"),
    ):
        done = deskcheck(*command, cwd=tmp_path)
        said = done.stdout + done.stderr
        assert "Traceback" not in said, command
        assert done.returncode in (0, 1, 2), said
        if command[-1] == "better":
            assert done.returncode == 0, said
