"""`deskcheck teach`, straight from recordings."""

import json
from pathlib import Path

import pytest

from tests.teach.conftest import Recorded, call

pytest.importorskip("torch", reason="no torch: would have proved that recordings become a model")

from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.recording import InputError

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
    asked = ("--out", out, "--steps", 3, "--rows", 4, "--layers", 1, "--width", 16, "--words", 0)
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
    with pytest.raises(InputError, match="--layers: for a model from nothing"):
        teach(runs, "--out", tmp_path / "model", "--model", "some/model", "--layers", 1)
    assert not (tmp_path / "model").exists()
