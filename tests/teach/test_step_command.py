"""`deskcheck models step`, with a model that knows nothing: what it prints is what a user sees of a bad model."""

import json
from pathlib import Path

import pytest

from deskcheck.teach.lessons.tokens import Bytes
from tests.teach.conftest import Recorded, call

torch = pytest.importorskip("torch", reason="no torch: would have proved that a trained model can be stepped")

from typer.testing import CliRunner  # noqa: E402

from deskcheck.cli import app  # noqa: E402
from deskcheck.recording import DeskcheckError  # noqa: E402
from deskcheck.teach.small.model import Model, ModelConfig  # noqa: E402

CODE = "def f(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    Model(ModelConfig(vocab_size=Bytes.size, layers=1, hidden_size=32, heads=2, intermediate_size=32)).save(
        tmp_path / "model", {}
    )
    return tmp_path / "model"


@pytest.fixture
def runs(record: Recorded) -> Path:
    return record(call("a", CODE, "(2)"), call("b", CODE, "(3)"))


def step(*arguments: object) -> str:
    result = CliRunner().invoke(
        app, ["models", "step", *[str(argument) for argument in arguments]], catch_exceptions=False
    )
    assert result.exit_code == 0
    return result.stdout


def test_all_runs_in_a_table(runs: Path, model: Path) -> None:
    shown = step(runs, "--model", model, "--budget", 2, "--each", 3)
    assert "steps of the runs that were predicted" in shown
    assert "2 unreadable" in shown
    assert "each step from its true state: 0.0000" in shown


def test_one_run_up_to_the_first_mistake_beside_the_truth(runs: Path, model: Path) -> None:
    shown = step(runs, "a", "--model", model, "--budget", 2)
    assert "     0 call f 1: n=2" in shown
    assert "first wrong: step 1, unreadable" in shown
    assert "true:\n    globals: def f\n    f 2: n=2" in shown


def test_as_json(runs: Path, model: Path) -> None:
    told = json.loads(step(runs, "--model", model, "--budget", 2, "--json"))
    assert told["steps"]["runs"] == 2
    assert {run["id"] for run in told["runs"]} == {"a", "b"}
    assert all(run["stop"] == "unreadable" and run["why"] for run in told["runs"])
    assert told["each"] is None


def test_a_file_that_cannot_be_written_is_refused_at_once(runs: Path, model: Path, tmp_path: Path) -> None:
    for out in (tmp_path / "no" / "run.json", tmp_path / "folder.json"):
        (tmp_path / "folder.json").mkdir(exist_ok=True)
        with pytest.raises(DeskcheckError, match="cannot be written: "):
            step(runs, "--model", model, "--out", out)


def test_a_model_of_another_notation_is_not_run(runs: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    other = Model(ModelConfig(vocab_size=Bytes.size, layers=1, hidden_size=32, heads=2, intermediate_size=32))
    other.save(tmp_path / "other", {"taught": {"notations": ["compact"], "jumps": [1]}})
    with pytest.raises(DeskcheckError, match="was taught compact, but is asked in dynamic"):
        step(runs, "--model", tmp_path / "other", "--notation", "dynamic")
    assert "each step from its true past: 0.0000" in step(runs, "--model", tmp_path / "other", "--each", 2)
    with pytest.raises(DeskcheckError, match="notations of runs are dynamic"):
        step(runs, "--model", tmp_path / "other", "--notation", "inline")


def test_into_a_file_and_beside_the_recording(runs: Path, model: Path, tmp_path: Path) -> None:
    """What --out writes is what `view --beside` reads."""
    step(runs, "--model", model, "--budget", 2, "--out", tmp_path / "run.json")
    told = json.loads((tmp_path / "run.json").read_text())
    assert [run["id"] for run in told["runs"]] == ["a", "b"]
    result = CliRunner().invoke(
        app, ["view", str(runs), "b", "--beside", str(tmp_path / "run.json")], catch_exceptions=False
    )
    assert result.exit_code == 0
    assert "first wrong: event 1, unreadable" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "nowhere"], "nowhere: has no model of deskcheck"),
        (["--model", "MODEL", "--jump", "1,x"], "--jump"),
        (["--model", "MODEL", "--out", "run.txt"], "is not a .json file"),
        (["nobody", "--model", "MODEL"], "nobody"),
    ],
)
def test_what_cannot_be_done_says_why(runs: Path, model: Path, arguments: list[str], message: str) -> None:
    given = [str(model) if argument == "MODEL" else argument for argument in arguments]
    with pytest.raises(DeskcheckError, match=message):
        CliRunner().invoke(app, ["models", "step", str(runs), *given], catch_exceptions=False)
