"""`deskcheck teach`, straight from recordings."""

import json
from pathlib import Path

import pytest

from tests.teach.conftest import Recorded, call

pytest.importorskip("torch", reason="no torch: would have proved that recordings become a model")

from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.recording import InputError, RecordingError

CODE = "def f(n):\n    total = 0\n    for i in range(n):\n        total += {}\n    return total\n"


def teach(*arguments: object) -> str:
    result = CliRunner().invoke(
        app, ["teach", *[str(argument) for argument in arguments]], catch_exceptions=False
    )
    assert result.exit_code == 0
    return result.stdout


def test_recordings_become_lessons_and_a_model(record: Recorded, tmp_path: Path) -> None:
    """The same command again has nothing left to do; with more recordings it is refused."""
    runs = record(*[call(f"run{n}", CODE.format(n), "(2)") for n in range(8)])
    out = tmp_path / "model"
    asked = (
        "--out",
        out,
        "--steps",
        3,
        "--batch-size",
        4,
        "--layers",
        1,
        "--hidden-size",
        16,
        "--vocab-words",
        0,
    )
    shown = teach(runs, *asked)
    assert "lessons in" in shown
    assert f"trained: {out}" in shown
    assert list((out / "lessons").glob("train-*.parquet"))
    curve = (out / "metrics.jsonl").read_text()
    assert json.loads(curve.splitlines()[-1])["step"] == 3
    teach(runs, *asked)
    assert (out / "metrics.jsonl").read_text() == curve
    other = record(*[call(f"other{n}", CODE.format(n), "(3)") for n in range(4)])
    with pytest.raises(InputError):
        teach(other, *asked)


def test_what_needs_no_model_is_refused_before_lessons_are_made(record: Recorded, tmp_path: Path) -> None:
    runs = record(call("run", CODE.format(1), "(2)"))
    with pytest.raises(InputError, match="--layers: is for a model from nothing"):
        teach(runs, "--out", tmp_path / "model", "--model", "some/model", "--layers", 1)
    assert not (tmp_path / "model").exists()


SMALL = ("--steps", 3, "--batch-size", 4, "--layers", 1, "--hidden-size", 16, "--vocab-words", 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--lora", 8, "--per-device-batch-size", 2),
            "--per-device-batch-size: is for training a model further; name it with --model",
        ),
        (("--model", "some/model", "--device", "cpu"), "--device: is for a model from nothing"),
        (("--hidden-size", 36), "hidden_size"),
        (("--precision", "fp8"), "precision='fp8' must be bf16 or fp32"),
        (("--device", "nothing"), "device 'nothing'"),
    ],
)
def test_wrong_settings_make_no_lessons(
    arguments: tuple[object, ...], message: str, record: Recorded, tmp_path: Path
) -> None:
    """Of recordings, too, all that can be known at once is said at once."""
    runs = record(call("run", CODE.format(1), "(2)"))
    with pytest.raises(InputError, match=message):
        teach(runs, "--out", tmp_path / "model", *arguments)
    assert not (tmp_path / "model").exists()


def test_a_folder_of_something_else_is_left_alone(record: Recorded, tmp_path: Path) -> None:
    """The recordings' own folder among them; and lessons are not made into the folder of another run."""
    runs = record(*[call(f"run{n}", CODE.format(n), "(2)") for n in range(8)])
    before = sorted(path.name for path in runs.iterdir())
    with pytest.raises(InputError, match="is neither empty nor a training run"):
        teach(runs, "--out", runs, *SMALL)
    assert sorted(path.name for path in runs.iterdir()) == before
    out = tmp_path / "model"
    teach(runs, "--out", out, *SMALL)
    (out / "lessons").rename(tmp_path / "moved")
    with pytest.raises(InputError, match="has a run with other training"):
        teach(runs, "--out", out, *SMALL, "--seed", 1)
    assert not (out / "lessons").exists()
    with pytest.raises(RecordingError, match="cannot write the model here"):
        teach(tmp_path / "moved", "--out", tmp_path / "moved" / "lessons.json", *SMALL)


def test_recordings_that_are_not_cleared(record: Recorded, tmp_path: Path) -> None:
    runs = record(*[call(f"run{n}", CODE.format(n), "(2)", train_ok=False) for n in range(8)])
    with pytest.raises(InputError, match="add --any-licence"):
        teach(runs, "--out", tmp_path / "model", *SMALL)
    teach(runs, "--out", tmp_path / "model", *SMALL, "--any-licence")
    with pytest.raises(InputError, match="has no recordings"):
        teach(tmp_path / "model" / "lessons", "--out", tmp_path / "other", *SMALL, "--any-licence")
