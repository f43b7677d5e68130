"""Asking models through Inspect AI: results, files, errors, the command line."""

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import deskcheck.ask
from deskcheck.ask import AskSettings, Generation, Sampling, ask, ask_benchmark, compare
from deskcheck.ask.inspect.context import AskProgress
from deskcheck.ask.questions.gathering import Gathering
from deskcheck.ask.results import statistics
from deskcheck.ask.results.folder import card_of, run_folder
from deskcheck.ask.results.logs import read_logs
from deskcheck.ask.results.results import result_of
from deskcheck.ask.results.tables import write_results
from deskcheck.ask.samples.sample import Sample
from deskcheck.cli.asking import live_text
from deskcheck.recording import DeskcheckError, InputError, MissingExtra, Recording
from tests.ask.conftest import OF_RETURNS
from tests.ask.rows import row_of
from tests.command import deskcheck as command_line

Record = Callable[..., Recording]

CODE = "def f(n):\n    total = 0\n    for i in range(n):\n        total += i * i\n    return total\n"


@pytest.fixture(scope="module")
def recordings(record: Record) -> list[Recording]:
    return [record(CODE, "f", f"({n},)", id=f"squares/{n}") for n in range(3, 8)]


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
def test_ask_scores_keeps_and_compares(
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
    kinds = OF_RETURNS
    far: list[AskProgress] = []
    models = ["deskcheck/oracle", "deskcheck/guess", "mockllm/model"]
    results = ask(recordings, kinds, models, out=out, progress=far.append)
    assert (far[0].done, far[0].before) == (0, 0)
    assert far[-1].done == far[-1].total == sum(r.n for r in results)
    assert [one.done for one in far] == sorted(one.done for one in far)
    assert far[-1].input_tokens > 0
    assert [(r.question, r.model) for r in results] == [
        (kind, model) for kind in kinds for model in ("deskcheck/oracle", "deskcheck/guess", "mockllm/model")
    ]
    for truth, guessed, mock in zip(results[::3], results[1::3], results[2::3], strict=True):
        assert (truth.score, truth.low, truth.high) == (1, None, None), "one program is too few"
        assert guessed.score is not None
        assert guessed.score < 1
        assert (mock.score, mock.unreadable) == (0, mock.n), "unreadable answers stay in n"
        assert truth.n == guessed.n == mock.n > 0
        assert truth.programs == 1, "five calls of one function are one cluster"
        difference = compare(guessed, truth)
        assert difference.value == pytest.approx(1 - guessed.score)
        assert (difference.low, difference.clusters) == (None, 1)
    table = pq.read_table(out / "samples.parquet").to_pylist()
    assert len(table) == sum(r.n for r in results)
    assert {row["id"] for row in table if row["question"] == "path"} == {
        f"squares/{n}:path" for n in range(3, 8)
    }
    told = json.loads((out / "results.json").read_text())
    assert told["results"] == [r.to_dict() for r in results]
    assert len(list((out / "logs").glob("*.eval"))) == len(results)
    files = sorted(p.name for p in out.iterdir())
    assert files == ["logs", "questions", "results.json", "run.json", "samples.parquet", "usage.parquet"]
    card = json.loads((out / "run.json").read_text())
    assert told["card"] == card
    assert (card["seed"], card["limit"], card["question"]) == (0, None, kinds)
    asked = (out / "questions" / "output.jsonl").read_bytes()
    assert card["prompts"]["output"] == hashlib.sha256(asked).hexdigest()
    log = inspect.log.read_eval_log(str(next((out / "logs").glob("*.eval"))), header_only=True)
    assert log.eval.metadata["card"] == card
    usage = pq.read_table(out / "usage.parquet").to_pylist()
    assert [(row["id"], row["model"]) for row in usage] == [(row["id"], row["model"]) for row in table]
    assert all(row["input_tokens"] > 0 for row in usage if row["model"] == "mockllm/model")
    assert all("```" in row["prompt"] for row in table)
    assert list(home.iterdir()) == []
    assert "XDG_DATA_HOME" not in os.environ
    with pytest.raises(InputError, match=r"already has a run with other settings: question, model"):
        ask(recordings, ["output"], ["deskcheck/oracle"], out=out)
    again = ask(recordings, kinds, models, out=out)
    assert [r.to_dict() for r in again] == [r.to_dict() for r in results], "read, not asked again"


def test_the_same_again_is_read_and_of_two_runs_the_newer_counts(
    inspect: Any, recordings: list[Recording], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked again in the same way is read, unless another folder is named. A report of a tree in which one
    kind was asked once more with other methods counts the newer answers, and says so."""
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    asked = partial(ask, recordings, models=["deskcheck/guess"], note=told.append)
    (first,) = asked(questions=["output"])
    (again,) = asked(questions=["output"])
    assert (again.folder, again.samples) == (first.folder, first.samples)
    assert "these questions were asked before" in told[-1]
    (other,) = asked(questions=["output"], out=tmp_path / "ask" / "other")
    assert other.folder != first.folder
    newer = asked(questions=["output"], settings=AskSettings(methods=("direct", "chain_of_thought")))
    logs = read_logs([tmp_path / "ask"])
    assert {(r.solver, Path(r.folder).name, r.n) for r in logs.results} == {
        (r.solver, Path(r.folder).name, r.n) for r in newer
    }
    assert len(logs.notes) == 2
    for left_out in (first, other):
        assert any(f"{Path(left_out.folder).name}: the " in note for note in logs.notes)
    rows = tmp_path / "ask" / "other" / "samples.parquet"
    table = pq.read_table(rows)
    place = table.column_names.index("prompt")
    pq.write_table(table.set_column(place, "prompt", [["another"] * len(table)]), rows)
    with pytest.raises(InputError, match="differs from that in"):
        read_logs([tmp_path / "ask"])


def test_of_two_runs_only_what_both_have_is_left_out(
    inspect: Any, recordings: list[Recording], tmp_path: Path
) -> None:
    """A newer run of two of five samples takes the place of their older answers, all epochs of
    them, and of no others. Each sample that both have must be the same question."""
    import pyarrow.parquet as pq

    asked = partial(ask, recordings, ["output"], ["deskcheck/guess"])
    asked(out=tmp_path / "a", settings=AskSettings(generation=Generation(epochs=2)))
    asked(out=tmp_path / "b", settings=AskSettings(sampling=Sampling(limit=2)))
    (found,) = read_logs([tmp_path]).results
    assert (found.n, found.programs, Path(found.folder).name) == (5, 1, "b")
    older = sorted(pq.read_table(tmp_path / "b" / "samples.parquet")["id"].to_pylist())
    for rows in (found.samples, found.usage):
        epochs = Counter(row.id for row in rows)
        assert sorted(epochs.values()) == [1, 1, 2, 2, 2]
        assert sorted(id_ for id_, count in epochs.items() if count == 1) == older
    (note,) = read_logs([tmp_path]).notes
    assert note == (
        f"{tmp_path / 'b'} has newer answers of deskcheck/guess (output, direct) to samples in "
        f"{tmp_path / 'a'}: the 4 older answers are not counted, its 6 others are."
    )
    for other in older:
        rows = pq.read_table(tmp_path / "a" / "samples.parquet")
        place = rows.column_names.index("prompt")
        prompts = ["another" if row["id"] == other else row["prompt"] for row in rows.to_pylist()]
        (tmp_path / other).mkdir(parents=True)
        shutil.copytree(tmp_path / "a", tmp_path / other / "a")
        pq.write_table(
            rows.set_column(place, "prompt", [prompts]), tmp_path / other / "a" / "samples.parquet"
        )
        with pytest.raises(InputError, match=f"its question {other!r} differs from that in"):
            read_logs([tmp_path / other / "a", tmp_path / "b"])


@pytest.fixture
def key(recordings: list[Recording], monkeypatch: pytest.MonkeyPatch, inspect: Any) -> Callable[..., str]:
    """The key of the card of a run, which is not begun."""

    class Known(Exception):
        pass

    def known(out: Any, home: Any, card: dict[str, Any], note: Any) -> None:
        assert "s3cret" not in json.dumps(card)
        raise Known(card["key"])

    def of(*models: str, **given: Any) -> str:
        generation = {name: given.pop(name) for name in ("prices", "cost_limit") if name in given}
        settings = AskSettings(**given, generation=Generation(**generation))
        with monkeypatch.context() as patched:
            patched.setattr("deskcheck.ask.run.run_folder", known)
            with pytest.raises(Known) as told:
                ask(recordings, ["output"], models or ["mockllm/model"], settings=settings)
        return str(told.value)

    return of


def test_a_checkpoint_that_was_trained_on_is_another_model(
    key: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An argument, or a name, that is a path counts with the place and the state of its files."""
    monkeypatch.chdir(tmp_path)
    weights = tmp_path / "CKPT" / "deep" / "weights"
    weights.parent.mkdir(parents=True)
    weights.write_text("1")
    given = partial(key, model_args={"model_path": "CKPT"})
    first = given()
    assert given() == first
    assert key(model_args={"model_path": "elsewhere"}) != first
    weights.write_text("22")
    second = given()
    assert second != first
    monkeypatch.chdir(tmp_path / "CKPT")
    (tmp_path / "CKPT" / "CKPT").mkdir()
    assert given() not in (first, second)


def test_a_taught_model_counts_with_its_files(key: Callable[..., str], tmp_path: Path) -> None:
    """`taught/FOLDER` after more training is another model, in one process too."""
    pytest.importorskip(
        "onnxruntime", reason="no deskcheck[nano]: would show that checkpoints are told apart"
    )
    import deskcheck.teach

    nano = Path(deskcheck.teach.__file__).parent / "nano"
    folder = tmp_path / "mine"
    shutil.copytree(nano, folder)
    first = key(f"taught/{folder}")
    assert key(f"taught/{folder}") == first
    (folder / "more").write_text("trained")
    assert key(f"taught/{folder}") != first


def test_what_decides_the_answers_counts_for_the_key(
    key: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tokenizers, secrets (which no file tells), servers, and prices where a limit of cost cuts."""

    names = ["tokenizer", "tokenizer_path", "api_key", "apikey", "hf_token", "password", "credentials"]
    for name in names:
        shown = "" if "tokenizer" in name else "s3cret-"
        assert len({key(model_args={name: f"{shown}{n}"}) for n in (1, 2)}) == 2, name
    assert len({key(model_args={"endpoint": f"http://me:s3cret-{n}@host/"}) for n in (1, 2)}) == 2
    some = {"openai-api/local/some": (1.0, 2.0)}
    other = {"openai-api/local/some": (1.0, 3.0)}
    assert key(prices=some) == key(prices=other)
    assert key(prices=some, cost_limit=1.0) != key(prices=other, cost_limit=1.0)
    keys = set()
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    for address in ("127.0.0.1:1/v1", "127.0.0.1:2/v1", "me:s3cret@127.0.0.1:1/v1?k=s3cret"):
        url = f"http://{address}"
        monkeypatch.setenv("LOCAL_BASE_URL", url)
        keys.add(key("openai-api/local/some"))
    assert len(keys) == 3


def test_a_finished_run_is_read_while_others_read_it(tmp_path: Path) -> None:
    """It needs no lock, and goes before a later one that is not finished, with and without a name.
    An unfinished one that another process has is named, and not asked once more."""
    card = card_of({"seed": 1}, [], {})

    def here(out: Path | None = None) -> str:
        with run_folder(out, tmp_path, card, lambda text: None) as folder:
            return folder.name

    first = here()
    assert here() == first, "goes on"
    (tmp_path / "ask" / first / "results.json").write_text("{}")
    for name in ("9", "8"):
        shutil.copytree(tmp_path / "ask" / first, tmp_path / "ask" / name)
        (tmp_path / "ask" / name / "results.json").unlink()
    with run_folder(tmp_path / "ask" / "9", tmp_path, card, lambda text: None):
        assert here() == first
        with run_folder(None, tmp_path, card, lambda text: None):
            assert here() == here(tmp_path / "ask" / first) == first
        shutil.rmtree(tmp_path / "ask" / first)
        with pytest.raises(InputError, match="/9: another process asks the same questions there now"):
            here()
        with pytest.raises(InputError, match="is writing here"):
            here(tmp_path / "ask" / "9")
    assert here() == "9"


def test_a_card_that_the_disk_refuses(tmp_path: Path) -> None:
    """No file may be longer than 300 bytes, which the kernel says as of a full disk: our error."""
    card = card_of({"seed": 1}, ["x" * 300], {})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    try:
        with (
            pytest.raises(DeskcheckError, match="cannot be written: File too large"),
            run_folder(tmp_path / "run", tmp_path, card, lambda text: None),
        ):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with run_folder(tmp_path / "run", tmp_path, card, lambda text: None) as folder:
        assert json.loads((folder / "run.json").read_text())["key"] == card["key"]


@pytest.mark.parametrize("price", ["1,2", "=1,2", "m=1", "m=nan,1", "m=1,inf", "m=-3,1", "m=1,2,3"])
def test_prices_that_are_none(price: str, tmp_path: Path) -> None:
    """No model, or no two finite numbers from 0 on: refused with the form that is meant."""
    ran = command_line("ask", "x", "-q", "output", "-m", "deskcheck/guess", "--price", price, cwd=tmp_path)
    assert ran.returncode == 2
    assert "--price" in ran.stderr
    assert "give MODEL=IN,OUT" in ran.stderr


def test_how_far_a_run_is() -> None:
    """Answers, tokens, dollars where there are prices, requests again, and the time left by the pace of this process."""
    first = AskProgress(done=20, total=100, before=20)
    assert live_text(first, None) == "20 of 100 answers"
    later = replace(first, done=40, input_tokens=12_345, output_tokens=678, cost=0.126, retries=2)
    assert live_text(later, 90) == (
        "40 of 100 answers, 12,345 tokens read, 678 written, $0.13, 2 requests again, 0:01:30 left"
    )
    assert live_text(replace(first, done=100), None) == "100 of 100 answers"


def test_answers_of_several_epochs_are_one_sample() -> None:
    """Their mean is its score; n counts samples, the readings answers."""
    row = row_of("1", 1.0)
    wrong = replace(row, score=0.0, answer=None, epoch=2, reading="cut")
    found = result_of("x", "", "x", "x", (row, wrong, replace(row, id="2")), {}, Path("run"))
    assert (found.n, found.epochs, found.score, found.cut, found.unreadable) == (2, 2, 0.75, 1, 0)
    better = result_of("x", "", "x", "x", (row, replace(row, id="2")), {}, Path("run"))
    assert compare(found, better).value == 0.25


def test_results_are_written_as_they_are(tmp_path: Path) -> None:
    """Every sample of every result in one table, numbers as numbers, text that is no UTF-8 as what can be kept."""
    pq = pytest.importorskip("pyarrow.parquet", reason="would show what results are written as")
    rows = [
        row_of(
            str(number),
            number / 4,
            completion="\ud800",
            answer=None if number % 2 else "x",
            exact=float(number % 2),
            steps_asked=number,
            epoch=number + 1,
        )
        for number in range(4)
    ]
    results = [
        result_of("state", "", "x", "x", tuple(part), {"why": 1}, tmp_path) for part in (rows[:3], rows[3:])
    ]
    write_results(results, tmp_path, {"seed": 3})
    table = pq.read_table(tmp_path / "samples.parquet")
    assert table.column("id").to_pylist() == ["0", "1", "2", "3"]
    assert table.column("score").to_pylist() == [0.0, 0.25, 0.5, 0.75]
    assert table.column("steps_asked").to_pylist() == [0, 1, 2, 3]
    assert table.column("exact").to_pylist() == [0.0, 1.0, 0.0, 1.0]
    assert table.column("answer").to_pylist() == ["x", None, "x", None]
    assert {str(table.schema.field(name).type) for name in ("score", "exact", "rouge_l")} == {"double"}
    assert {str(table.schema.field(name).type) for name in ("steps_asked", "epoch")} == {"int64"}
    assert {str(table.schema.field(name).type) for name in ("answer", "state", "stop_reason")} == {"string"}
    told = json.loads((tmp_path / "results.json").read_text())
    assert told["card"] == {"seed": 3}
    first, second = told["results"]
    assert (first["n"], first["score"], first["excluded"]) == (3, 0.25, {"why": 1})
    assert first["metrics"]["exact"]["value"] == pytest.approx(1 / 3)
    assert (second["n"], second["metrics"]["exact"]["value"], second["attempts"]) == (1, 1.0, {})
    assert "samples" not in first
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_a_damaged_log_is_named(inspect: Any, recordings: list[Recording], tmp_path: Path) -> None:
    """Of an unfinished run: our error, and the way out, which ends in the result."""
    (before,) = ask(recordings, ["output"], ["deskcheck/oracle"], out=tmp_path)
    (tmp_path / "results.json").unlink()
    (log,) = (tmp_path / "logs").glob("*.eval")
    log.write_bytes(log.read_bytes()[:-300])
    with pytest.raises(InputError, match=r"\.eval: cannot be read: .*Remove it"):
        ask(recordings, ["output"], ["deskcheck/oracle"], out=tmp_path)
    log.unlink()
    (again,) = ask(recordings, ["output"], ["deskcheck/oracle"], out=tmp_path)
    assert again.to_dict() == before.to_dict()


@pytest.mark.slow
def test_nothing_to_ask_is_said(inspect: Any, record: Record, tmp_path: Path) -> None:
    """A question that no recording can be asked has n = 0, no score, and the reasons."""
    script = record("x = 1\n")
    (result,) = ask([script], ["output"], ["deskcheck/oracle"], out=tmp_path)
    assert (result.n, result.score, result.low, result.high) == (0, None, None, None)
    assert result.excluded == {"prints nothing": 1}


def test_bad_questions_and_ids_are_refused(record: Record) -> None:
    """An unknown question, none at all, and two recordings of one id."""
    with pytest.raises(InputError, match=r"'outputs'\. The questions are output, input"):
        Gathering([], ["outputs"])
    with pytest.raises(InputError, match="no question is named"):
        Gathering([], [])
    one = record(CODE, "f", "(3,)", id="one")
    with pytest.raises(InputError, match="the id 'one'"):
        Gathering([one, one], ["output"]).sets()


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
    """A wrong name, a missing package or key is our error with the way out, before work is done."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(DeskcheckError, match=message) as caught:
        ask([], ["output"], [model], out=tmp_path / "run")
    assert "[bold]" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()
    with pytest.raises(InputError, match="no model is named"):
        ask([], ["output"], [])
    with pytest.raises(InputError, match="deskcheck/guess is named twice"):
        ask([], ["output"], ["deskcheck/guess", "deskcheck/oracle", "deskcheck/guess"])


@pytest.mark.slow
def test_a_model_that_fails_is_an_error_with_its_log(
    inspect: Any, recordings: list[Recording], tmp_path: Path
) -> None:
    """No scores are made up for a run that did not finish."""
    from inspect_ai.model import get_model

    broken = get_model("mockllm/model", custom_outputs=[])
    with pytest.raises(
        DeskcheckError, match=r"did not finish.*None of 5 answers was scored; they are kept in "
    ):
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
    settings = AskSettings(sampling=Sampling(limit=12))
    both = ["cruxeval_output", "cruxeval_input"]
    results = ask_benchmark(
        [f"{name}:{cruxeval_file}" for name in both], ["deskcheck/oracle"], settings=settings, out=tmp_path
    )
    assert [(r.question, r.n, r.score) for r in results] == [(name, 12, 1.0) for name in both]
    with pytest.raises(InputError, match="unknown question 'evalhuman'"):
        ask_benchmark(["evalhuman"], ["deskcheck/oracle"])


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
    folder, out = tmp_path / "recorded", tmp_path / "asked"
    program = tmp_path / "squares.jsonl"
    program.write_text(json.dumps({"code": CODE, "entry": "f", "inputs": ["(3,)", "(4,)"]}) + "\n")
    assert command_line("record", program, "--out", folder, cwd=tmp_path).returncode == 0
    questions = ("-q", "output,input,next_line,state,path", "-m", "deskcheck/oracle")
    asked = command_line("ask", folder, *questions, "--out", out, "--json", cwd=tmp_path)
    assert asked.returncode == 0, asked.stderr
    results = json.loads(asked.stdout)["results"]
    assert [(r["question"], r["score"]) for r in results] == [(kind, 1.0) for kind in OF_RETURNS]
    from inspect_ai import eval as inspect_eval

    from deskcheck.ask.inspect.registry import OF_RECORDINGS

    for kind in ("path", "visit"):
        (log,) = inspect_eval(
            f"deskcheck/{kind}",
            task_args={"path": str(folder)},
            model="deskcheck/oracle",
            log_dir=str(tmp_path / "logs"),
            display="none",
        )
        assert log.status == "success"
        assert log.results is not None
        assert log.results.scores[0].metrics["mean"].value == 1
    with pytest.raises(InputError, match="-T path=FOLDER"):
        OF_RECORDINGS["path"]()


@pytest.mark.parametrize("sizes", [(3, 3, 3, 3), (12, 1, 1, 2, 4)], ids=str)
def test_tasks_have_a_standard_error_by_program(inspect: Any, tmp_path: Path, sizes: tuple[int, ...]) -> None:
    """Inspect's own evaluation gives the deviations of the programs that our variance is made of.

    Inspect's is G / (G - 1) times their sum of squares. Ours divides each square by 1 - the program's share: for
    programs of one size it is Inspect's.
    """
    from inspect_ai.model import ModelOutput, get_model

    from deskcheck.ask.inspect.provider import count_offline
    from deskcheck.ask.inspect.tasks import task_of

    right = [(n + cluster) % 3 == 0 for cluster, size in enumerate(sizes) for n in range(size)]
    clusters = [cluster for cluster, size in enumerate(sizes) for _ in range(size)]
    samples = [
        Sample(
            id=f"s{n}",
            question="output",
            program=f"{cluster}/{n}",
            cluster=f"p{cluster}",
            parts={"question": f"{n} is?"},
            answer="7",
            data={"form": "value", "strict": True},
        )
        for n, cluster in enumerate(clusters)
    ]
    answers = {sample.prompt: "7" if ok else "8" for sample, ok in zip(samples, right, strict=True)}

    def said(messages: list[Any], *_: Any) -> ModelOutput:
        return ModelOutput.from_content("mockllm", f"[ANSWER]{answers[messages[-1].text]}[/ANSWER]")

    model = get_model("mockllm/model", custom_outputs=said)
    count_offline(model)
    (log,) = inspect.eval(task_of("output", samples), model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    n, groups = len(samples), len(sizes)
    assert metrics["mean"] == pytest.approx(sum(right) / n)
    totals = [
        sum(ok for ok, of in zip(right, clusters, strict=True) if of == cluster) for cluster in range(groups)
    ]
    mean = sum(right) / n
    deviations = [(total - size * mean) / n for total, size in zip(totals, sizes, strict=True)]
    miller = sum(deviation**2 for deviation in deviations) * groups / (groups - 1)
    assert metrics["stderr"] == pytest.approx(miller**0.5)
    ours = statistics._variance_of_mean(sizes, totals)
    if len({*sizes}) == 1:
        assert ours == pytest.approx(miller)
    else:
        assert ours > 1.2 * miller, "a program with most of the samples pulls the mean to itself"
