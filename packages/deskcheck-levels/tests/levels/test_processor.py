"""The model of the level `processor`: right at every window that there is, and what follows from that."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from deskcheck_levels.machine.machine import Machine
from deskcheck_levels.machine.runs import run_recorded
from deskcheck_levels.paper.arithmetic import Arithmetic
from deskcheck_levels.paper.cells import NUMBER, Window
from deskcheck_levels.paper.windows import all_windows
from deskcheck_levels.processor import lessons, network
from deskcheck_levels.processor.stepping import Processor, run_level
from deskcheck_levels.shipped import NANO, folder_of

from deskcheck.errors import InputError
from deskcheck.recording.reader import Recordings
from deskcheck.sources import programs
from tests.teach.conftest import Recorded, call

NANO_FOLDER = folder_of(NANO)
COLLATZ = (
    "def f(n):\n    steps = 0\n    while n != 1:\n        if n % 2 == 0:\n            n //= 2\n"
    "        else:\n            n = 3 * n + 1\n        steps += 1\n    return steps\n"
)


def test_every_window_is_right() -> None:
    """The statement of the card. An operation shows no other windows (`test_paper`), and the word depends on
    the window alone: so no operation on whole numbers, however long, is computed wrongly."""
    net = network.load(NANO_FOLDER / network.FILE)
    right = all_windows()
    logits = net.logits(list(right))
    words = np.array(list(right.values()))
    rows = np.arange(len(words))
    of_right = logits[rows, words].copy()
    logits[rows, words] = -np.inf
    assert len(words) > 30_000
    assert (of_right - logits.max(1)).min() > 1  # by far more than rounding on another processor could move
    assert (NANO_FOLDER / network.FILE).stat().st_size < 1_000_000


def test_unseen_programs_and_a_long_run(record: Recorded) -> None:
    """Generated programs of all levels, and Collatz from 837799: 2,225 steps, its own answers fed back."""
    runs = record(
        *programs("generated:25,difficulty=1-10,seed=9005,inputs=1"), call("collatz", COLLATZ, "(837799)")
    )
    processor = Processor(NANO_FOLDER)
    found = run_level(Recordings(runs), processor.machine)
    assert found.steps is not None
    assert found.steps.whole == found.steps.runs >= 23
    assert found.steps.longest > 2_000
    counts = processor.counts()
    assert counts["windows"] < counts["words"] < counts["operations"] * 20


def test_a_wrong_word_is_found(record: Recorded) -> None:
    """One window answered wrongly: the run is right up to there, and says where it is not."""
    (recording,) = Recordings(record(call("collatz", COLLATZ, "(27)")))
    right = all_windows()

    def answer(window: Window) -> int:
        wrong = window[0] == NUMBER["+"] and window[3] == NUMBER["9"] and window[4] == NUMBER["1"]
        return NUMBER["5'0"] if wrong else right[window]

    run = run_recorded(recording, lambda line: Machine(Arithmetic(answer), line=line))
    assert run.first is not None
    assert "steps=5" in run.first[0]
    assert "steps=10" in run.first[1]
    assert 30 < run.agreement.exact < run.agreement.judged < 60


def test_steps_without_torch(record: Recorded) -> None:
    """`deskcheck models step --level processor` runs what ships; torch is not loaded."""
    runs = record(call("collatz", COLLATZ, "(27)"), call("half", "def f(n):\n    return n / 3\n", "(2)"))
    code = (
        "import sys\nfrom deskcheck.cli import app\n"
        f"app(['models', 'step', {str(runs)!r}, '--level', 'processor', '--json'], standalone_mode=False)\n"
        "assert 'torch' not in sys.modules and 'onnxruntime' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["steps"]["whole"] == told["steps"]["runs"] == 1
    assert told["outside"] == {"a float that is not exact": 1}
    assert told["asked"]["windows"] <= told["asked"]["words"]


def test_lessons_are_what_python_computes() -> None:
    assert list(lessons.spot_check(2000, seed=5)) == []
    shown = lessons.random_lessons(500, seed=5)
    assert set(shown) <= set(all_windows())


def test_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / network.FILE
    file.write_bytes(b"PK\x03\x04 no weights")
    with pytest.raises(InputError, match="has no model of the level processor"):
        network.load(file)


@pytest.mark.slow
def test_training_goes_on_where_it_was_ended(tmp_path: Path) -> None:
    """A run that was ended at a look gives the same losses and the same weights as one that was not."""
    pytest.importorskip("torch", reason="no torch: would have proved that training goes on after an end")
    from deskcheck_levels.processor import training
    from deskcheck_levels.processor.settings import ProcessorTraining

    settings = ProcessorTraining(steps=20, batch_size=64, again=16, hidden=16, width=4, look_every=10)
    shown = lessons.random_lessons(100, seed=0)

    class Ended(Exception):
        pass

    def end(row: dict[str, object]) -> None:
        raise Ended

    whole = training.train(shown, tmp_path / "whole", settings, about={})
    with pytest.raises(Ended):
        training.train(shown, tmp_path / "ended", settings, about={}, note=end)
    again = training.train(shown, tmp_path / "ended", settings, about={})
    some = list(all_windows())[::97]
    assert np.array_equal(whole.logits(some), again.logits(some))
    rows = [
        [
            {k: v for k, v in json.loads(line).items() if k != "seconds"}
            for line in file.read_text().splitlines()
        ]
        for file in (tmp_path / "whole" / "metrics.jsonl", tmp_path / "ended" / "metrics.jsonl")
    ]
    assert rows[0] == rows[1]
    assert [row["step"] for row in rows[0]] == [10, 20]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["teach"], "LESSONS is missing"),
        (["teach", "--steps-of", "generated:2", "--model", "x"], "makes its own lessons"),
        (["teach", "--steps-of", "generated:2", "--layers", "3"], "--layers: is for"),
        (["teach", "--steps-of", "generated:2", "--device", "cpu"], "--device: is for a model from nothing"),
        (["teach", "lessons", "--level", "reader"], "--level reader: needs --steps-of"),
    ],
)
def test_what_does_not_go_together_is_refused(command: list[str], why: str, tmp_path: Path) -> None:
    from deskcheck.cli import app

    with pytest.raises(InputError, match=why):
        app([*command, "--out", str(tmp_path / "out")], standalone_mode=False)
    assert not (tmp_path / "out").exists()
