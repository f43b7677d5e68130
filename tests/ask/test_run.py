"""Asking models through Inspect AI: results, files, errors, the command line."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import deskcheck.ask
from deskcheck.ask import QUESTIONS, SUITES, ask, ask_suite, compare
from deskcheck.ask.run import questions_of
from deskcheck.recording import DeskcheckError, InputError, MissingExtra, Recording

Record = Callable[..., Recording]

CODE = "def f(n):\n    total = 0\n    for i in range(n):\n        total += i * i\n    return total\n"


@pytest.fixture(scope="module")
def recordings(record: Record) -> list[Recording]:
    return [record(CODE, "f", f"({n},)", id=f"squares/{n}") for n in range(3, 8)]


@pytest.fixture
def inspect() -> Any:
    return pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show that models can be asked")


def test_importing_ask_needs_no_model_client() -> None:
    """`import deskcheck.ask` loads neither Inspect AI nor pyarrow."""
    code = "import sys, deskcheck.ask; print({'inspect_ai', 'pyarrow', 'openai'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_without_inspect_the_extra_is_named(
    recordings: list[Recording], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where Inspect AI is not installed the error says what to install, before anything is written."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "inspect_ai"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    with pytest.raises(MissingExtra, match=r"deskcheck\[ask\]"):
        ask(recordings, ["output"], ["deskcheck/oracle"], out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_what_is_listed_can_be_imported() -> None:
    """The public face is what is really there."""
    for name in deskcheck.ask.__all__:
        assert hasattr(deskcheck.ask, name)


@pytest.mark.slow
def test_ask_marks_keeps_and_compares(
    inspect: Any, recordings: list[Recording], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oracle scores 1 on every kind; all files lie in the run folder, and none elsewhere."""
    import pyarrow.parquet as pq

    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "INSPECT_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    out = tmp_path / "run"
    kinds = list(QUESTIONS)
    results = ask(recordings, kinds, ["deskcheck/oracle", "deskcheck/guess", "mockllm/model"], out=out)
    assert [(r.question, r.model) for r in results] == [
        (kind, model) for kind in kinds for model in ("deskcheck/oracle", "deskcheck/guess", "mockllm/model")
    ]
    for truth, guessed, mock in zip(results[::3], results[1::3], results[2::3], strict=True):
        assert truth.score == truth.high == 1
        assert guessed.score is not None
        assert guessed.score < 1
        assert (mock.score, mock.low, mock.unreadable) == (0, 0, mock.n), "unreadable answers stay in n"
        assert truth.n == guessed.n == mock.n > 0
        assert truth.programs == 1, "five calls of one function are one cluster"
        difference = compare(guessed, truth)
        assert difference.value == pytest.approx(1 - guessed.score)
        assert difference.low < difference.value
    table = pq.read_table(out / "samples.parquet").to_pylist()
    assert len(table) == sum(r.n for r in results)
    assert {row["id"] for row in table if row["question"] == "path"} == {
        f"squares/{n}:path" for n in range(3, 8)
    }
    assert json.loads((out / "results.json").read_text()) == [r.to_dict() for r in results]
    assert len(list(out.glob("*.eval"))) == len(results)
    files = sorted(p.name for p in out.iterdir() if p.suffix != ".eval")
    assert files == ["results.json", "samples.parquet", "usage.parquet"]
    usage = pq.read_table(out / "usage.parquet").to_pylist()
    assert [(row["id"], row["model"]) for row in usage] == [(row["id"], row["model"]) for row in table]
    assert all(row["input_tokens"] > 0 for row in usage if row["model"] == "mockllm/model")
    assert all("```" in row["prompt"] for row in table)
    assert list(home.iterdir()) == []
    assert "XDG_DATA_HOME" not in os.environ
    with pytest.raises(InputError, match="holds a run already"):
        ask(recordings, ["output"], ["deskcheck/oracle"], out=out)


@pytest.mark.slow
def test_nothing_to_ask_is_said(inspect: Any, record: Record, tmp_path: Path) -> None:
    """A question that no recording can be asked has n = 0, no score, and the reasons."""
    script = record("x = 1\n")
    (result,) = ask([script], ["output"], ["deskcheck/oracle"], out=tmp_path)
    assert (result.n, result.score, result.low, result.high) == (0, None, None, None)
    assert result.excluded == {"prints nothing": 1}


def test_bad_questions_and_ids_are_refused(record: Record) -> None:
    """An unknown question, none at all, and two recordings of one id."""
    with pytest.raises(InputError, match=r"'outputs'\. Known are output, input"):
        questions_of([], ["outputs"])
    with pytest.raises(InputError, match="name at least one"):
        questions_of([], [])
    one = record(CODE, "f", "(3,)", id="one")
    with pytest.raises(InputError, match="the id 'one'"):
        questions_of([one, one], ["output"])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("nonsense", "PROVIDER/MODEL"),
        ("nobody/model", "nobody.*PROVIDER/MODEL"),
        ("deskcheck/god", "deskcheck/oracle, deskcheck/guess"),
        ("anthropic/claude", "pip install anthropic"),
        ("openai/gpt-4o", r"deskcheck\[ask\]|OPENAI_API_KEY"),
    ],
)
def test_models_that_cannot_be_asked(
    inspect: Any, model: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong name, a missing package or key is our error with the way out, before any work is done."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(DeskcheckError, match=message) as caught:
        ask([], ["output"], [model], out=tmp_path / "run")
    assert "[bold]" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()
    with pytest.raises(InputError, match="no model is named"):
        ask([], ["output"], [])


@pytest.mark.slow
def test_a_model_that_fails_is_an_error_with_its_log(
    inspect: Any, recordings: list[Recording], tmp_path: Path
) -> None:
    """No scores are made up for a run that did not finish."""
    from inspect_ai.model import get_model

    broken = get_model("mockllm/model", custom_outputs=[])
    with pytest.raises(DeskcheckError, match=r"did not finish.*\.eval keeps"):
        ask(recordings, ["output"], [broken], out=tmp_path)
    assert not (tmp_path / "samples.parquet").exists()


@pytest.mark.slow
def test_text_that_no_file_can_hold_is_kept_escaped(inspect: Any, record: Record, tmp_path: Path) -> None:
    """A program's lone surrogate does not stop a run."""
    one = record("def f():\n    return '\\ud800' * 2\n", "f", "()")
    (result,) = ask([one], ["output"], ["deskcheck/oracle"], out=tmp_path)
    assert result.score == 1


@pytest.mark.slow
def test_suites_need_no_recordings(inspect: Any, cruxeval_file: Path, tmp_path: Path) -> None:
    """CRUXEval in its published format, both ways: the published answers score 1."""
    results = ask_suite(list(SUITES), ["deskcheck/oracle"], path=str(cruxeval_file), limit=12, out=tmp_path)
    assert [(r.question, r.n, r.score) for r in results] == [(name, 12, 1.0) for name in SUITES]
    with pytest.raises(InputError, match="no question 'humaneval'"):
        ask_suite(["humaneval"], ["deskcheck/oracle"])


@pytest.mark.slow
def test_a_suite_from_any_folder_on_the_command_line(
    inspect: Any, cruxeval_file: Path, tmp_path: Path
) -> None:
    """`inspect eval deskcheck/cruxeval_output` finds our tasks and scores a mock model, without a network."""
    command = [
        *(sys.executable, "-m", "inspect_ai", "eval", "deskcheck/cruxeval_output"),
        *("-T", f"path={cruxeval_file}", "--model", "mockllm/model", "--limit", "5"),
        *("--log-dir", str(tmp_path / "logs"), "--display", "plain"),
    ]
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "0.0" in done.stdout
    (log,) = (tmp_path / "logs").glob("*.eval")
    from inspect_ai.log import read_eval_log

    read = read_eval_log(str(log))
    assert read.status == "success"
    assert len(read.samples or ()) == 5


@pytest.mark.slow
def test_tasks_over_a_folder(inspect: Any, tmp_path: Path) -> None:
    """Recorded by the command line, asked by it: what it prints as JSON are the results."""
    deskcheck_ = [sys.executable, "-m", "deskcheck.cli"]
    folder, out = tmp_path / "recorded", tmp_path / "asked"
    program = tmp_path / "squares.jsonl"
    program.write_text(json.dumps({"code": CODE, "entry": "f", "inputs": ["(3,)", "(4,)"]}) + "\n")
    subprocess.run(
        [*deskcheck_, "record", str(program), "--out", str(folder)], check=True, capture_output=True
    )
    asked = subprocess.run(
        [
            *deskcheck_,
            *("ask", str(folder), "-q", "output,input,next_line,state,path", "-m", "deskcheck/oracle"),
            *("--out", str(out), "--json"),
        ],
        capture_output=True,
        text=True,
    )
    assert asked.returncode == 0, asked.stderr
    results = json.loads(asked.stdout)["results"]
    assert [(r["question"], r["score"]) for r in results] == [(kind, 1.0) for kind in QUESTIONS]
    from inspect_ai import eval as inspect_eval

    from deskcheck.ask._registry import path as path_task

    (log,) = inspect_eval(
        path_task(path=str(folder)), model="deskcheck/oracle", log_dir=str(tmp_path / "logs"), display="none"
    )
    assert log.status == "success"
    assert log.results is not None
    assert log.results.scores[0].metrics["mean"].value == 1
    with pytest.raises(InputError, match="-T path=FOLDER"):
        path_task()
