"""The model that the package brings, on programs of its language that it has not seen."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deskcheck.recording import Mode, Program
from deskcheck.recording.reader import Recordings
from deskcheck.sources import programs
from tests.teach.conftest import Recorded

pytest.importorskip(
    "onnxruntime", reason="no ONNX Runtime: would have proved that the package's model runs programs"
)

import deskcheck.teach
from deskcheck.teach.small.checkpoints import NANO, open_checkpoint
from deskcheck.teach.small.evaluation import report, run_all

FOLDER = Path(deskcheck.teach.__file__).parent / NANO
UNSEEN = "generated:30,difficulty=1-3,seed=9001,inputs=1"
SHORT = Program(
    id="short",
    mode=Mode.CALL,
    code="def f(n):\n    total = 0\n    while n > 0:\n        total += n\n        n -= 1\n    return total\n",
    entry="f",
    arguments="(3,)",
)


def test_is_small_and_says_what_it_is() -> None:
    """Eight megabytes at most, with its card beside it; the graph says what it was trained on."""
    assert (FOLDER / "model.onnx").stat().st_size <= 8_000_000
    card = (FOLDER / "card.md").read_text()
    assert re.search(r"python -m benchmarks\.nano ", card)
    about = open_checkpoint(NANO).about
    assert about["run"]["lessons"]
    assert about["step"] > 1000


@pytest.mark.exhaustive
def test_steps_of_unseen_programs(record: Recorded) -> None:
    """As well as its card says, with room for other processors: from true states, and from the start on."""
    runs = record(*programs(UNSEEN))
    checkpoint = open_checkpoint(NANO)
    found = report(checkpoint, list(run_all(checkpoint, list(Recordings(runs)))), steps_each=60)
    assert found.from_true_states is not None
    assert found.from_true_states.value > 0.8
    assert found.steps.exact is not None
    assert found.steps.exact.value > 0.85


def test_steps_without_torch(record: Recorded) -> None:
    """`deskcheck models step` uses it where no other model is named; torch is not loaded."""
    runs = record(SHORT)
    code = (
        "import sys\nfrom deskcheck.cli import app\n"
        f"app(['models', 'step', {str(runs)!r}, '--json'], standalone_mode=False)\nassert 'torch' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["model"] == NANO
    assert [run["id"] for run in told["runs"]] == ["short"]
    assert told["steps"]["exact"]["value"] > 0
