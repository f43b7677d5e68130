"""Methods that run code through `ask`, Inspect's own evaluation, reports, and after a kill."""

import functools
import json
import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as pq
import pytest

from deskcheck.ask import AskSettings, ask, ask_benchmark, baseline
from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.baselines.stand_ins import BASELINES
from deskcheck.ask.results.logs import read_logs
from deskcheck.recording import InputError
from tests.ask.provider import Provider, provider, wait_for
from tests.command import PROCESS, deskcheck

pytest.importorskip(
    "inspect_ai", reason="no deskcheck[ask]: would show methods that run code as they are used"
)

TASKS = 6


def repairer(prompt: str) -> str:
    """Divides by zero; once it sees where that happens, it does what the task says."""
    (name, factor) = re.findall(r"Name to define: (\w+)", prompt)[-1], re.findall(r"(\d+) times", prompt)[-1]
    right = "raise 3 ! ZeroDivisionError" in prompt
    body = f"    return x * {factor}" if right else "    y = x - x\n    return x / y"
    return f"{OPEN}\n```python\ndef {name}(x):\n{body}\n```\n{CLOSE}"


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("methods") / "mine.jsonl"
    rows = [
        {
            "id": f"times/{k}",
            "prompt": f"Give {k} times a number.",
            "entry_point": "times",
            "visible_tests": [f"assert times(2) == {2 * k}"],
            "tests": [f"assert times(7) == {7 * k}"],
            "reference": f"def times(x):\n    return x * {k}\n",
        }
        for k in range(2, 2 + TASKS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module", autouse=True)
def model() -> None:
    if "repairer" not in BASELINES:
        baseline("repairer", about="repairs what it sees fail")(repairer)


METHODS = ("direct", "repair", "repair:trace=true:notation=compact")


@pytest.fixture(scope="module")
def run(benchmark: Path) -> Path:
    folder = benchmark.parent / "run"
    done = deskcheck(
        *(
            "ask",
            benchmark,
            "-m",
            "deskcheck/repairer",
            "--method",
            ",".join(METHODS),
            "--out",
            folder,
            "--json",
        ),
        cwd=benchmark.parent,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [(r["solver"], r["score"], r["n"]) for r in told["results"]] == [
        (METHODS[0], 0.0, TASKS),
        (METHODS[1], 0.0, TASKS),
        (METHODS[2], 1.0, TASKS),
    ]
    assert [(e["solver"], e["difference"], e["better"]) for e in told["effects"]] == [
        (METHODS[1], 0.0, 0),
        (METHODS[2], 1.0, TASKS),
    ]
    return folder


@pytest.mark.slow
def test_ask_compares_settings_of_a_method(run: Path) -> None:
    """The true trace is what helps; every attempt stands in the table of samples, and in the log of Inspect."""
    rows = pq.read_table(run / "samples.parquet").to_pylist()
    told = {(row["id"], row["solver"]): json.loads(row["attempts"] or "{}") for row in rows}
    traced = told["times/3:program", METHODS[2]]
    assert [each["kind"] for each in traced["attempts"]] == ["call", "tests", "trace", "call", "tests"]
    assert (traced["calls"], traced["runs"]) == (2, 3)
    assert traced["ended"] == "passes the visible tests after 1 repairs"
    assert told["times/3:program", METHODS[0]] == {}
    used = pq.read_table(run / "usage.parquet").to_pylist()
    assert Counter(row["solver"] for row in used) == dict.fromkeys(METHODS, TASKS)


def test_a_report_tells_the_settings_apart(run: Path) -> None:
    done = deskcheck("report", run, "--json", cwd=run.parent)
    assert done.returncode == 0, done.stderr
    for name in METHODS:
        assert name in done.stdout


def test_inspect_evaluates_a_method(benchmark: Path, tmp_path: Path) -> None:
    """`inspect eval deskcheck/program -T path=... --solver deskcheck/repair -S trace=true -S notation=compact`; its log
    is read with the settings as the method's name."""
    from inspect_ai import eval as inspect_eval
    from inspect_ai.solver import SolverSpec

    from deskcheck.ask.inspect.tasks import OF_BENCHMARKS

    (log,) = inspect_eval(
        OF_BENCHMARKS["program"](path=str(benchmark)),
        model="deskcheck/repairer",
        solver=SolverSpec("deskcheck/repair", args_passed={"trace": True, "notation": "compact"}),
        limit=2,
        log_dir=str(tmp_path),
        display="none",
        score_display=False,
        ctl_server=False,
    )
    assert log.status == "success", log.error
    assert {(s.scores or {})["scored"].value for s in log.samples or ()} == {1.0}
    (result,) = read_logs([tmp_path]).results
    assert result.solver == "repair:trace=true:notation=compact"
    assert all(json.loads(row.attempts)["calls"] == 2 for row in result.samples)


def test_wrong_methods_end_before_a_model_is_asked(benchmark: Path, tmp_path: Path) -> None:
    for method, message in (
        ("repair:rounds=x", "rounds=x: give a whole number, at least 0. Limit for repairs."),
        ("repair:deep=1", "repair: unknown option 'deep'"),
        (
            "scratchpad",
            "benchmarks are asked by methods that need no recording: direct, chain_of_thought, majority",
        ),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            ask_benchmark(
                [str(benchmark)],
                ["deskcheck/repairer"],
                out=tmp_path / "run",
                settings=AskSettings(methods=(method,)),
            )
    assert not (tmp_path / "run").exists()


def test_exemplars_come_from_an_earlier_run(tmp_path: Path, record: Callable[..., Any]) -> None:
    """Of other functions: one is asked, its right answer stands before the questions about others. The oracle, whose
    answers are true, scores 1 by every method that leaves the question as it is."""
    runs = [
        record(f"def f{k}(n):\n    m = [n] * {k}\n    return m + [{k * k}]\n", f"f{k}", "(2)", id=str(k))
        for k in range(1, 5)
    ]
    other = record(
        "def g(words):\n    found = {}\n    for w in words:\n        found[w] = len(w)\n    return found\n",
        "g",
        "(['a'],)",
        id="g",
    )
    ask([other], ["output"], ["deskcheck/oracle"], out=tmp_path / "dev")
    chosen = ("direct", "majority:samples=2", f"examples:answers={tmp_path / 'dev'}")
    results = ask(
        runs, ["output"], ["deskcheck/oracle"], out=tmp_path / "run", settings=AskSettings(methods=chosen)
    )
    assert [(r.solver, r.score) for r in results] == [(name, 1.0) for name in chosen]
    told = [json.loads(row.attempts)["attempts"][0]["verdict"] for row in results[2].samples]
    assert told == ["1 of 1 right answers; 0 are too similar to the question: g:output"] * 4


def observer(prompt: str) -> str:
    """Writes a program that runs what it is asked about; as a machine it only says what it is told to say."""
    if "Answer no question yet" in prompt:
        return "1. add it up"
    if "Simulate this" in prompt:
        return f"{OPEN}{'6' if '1. add it up' in prompt else '0'}{CLOSE}"
    code = prompt.rpartition("Program:\n```python\n")[2].partition("\n```")[0]
    call = prompt.rpartition("\nCall: ")[2].partition("\n")[0]
    return f"{OPEN}\n```python\n{code}\nprint({call})\n```\n{CLOSE}"


def test_programs_and_simulations_answer_questions_about_runs(
    tmp_path: Path, record: Callable[..., Any]
) -> None:
    if "observer" not in BASELINES:
        baseline("observer", about="writes programs")(observer)
    run = record(
        "def f(n):\n    total = 0\n    for i in range(n + 1):\n        total += i\n    return total\n",
        "f",
        "(3)",
        id="sum",
    )
    results = ask(
        [run],
        ["output"],
        ["deskcheck/observer"],
        out=tmp_path / "run",
        settings=AskSettings(methods=("program_of_thought", "emulate")),
    )
    assert [(r.solver, r.score) for r in results] == [("program_of_thought", 1.0), ("emulate", 1.0)]


def test_what_questions_share_is_kept_in_the_run_folder(tmp_path: Path, record: Callable[..., Any]) -> None:
    """A run that goes on in another process simulates the same program: it is not written a second time."""
    from deskcheck_methods import solvers

    asked: list[str] = []

    def thinker(prompt: str) -> str:
        asked.append(prompt)
        return f"1. {len(asked)}" if "Answer no question yet" in prompt else f"{OPEN}{prompt[-1:]}{CLOSE}"

    name = f"thinker_{tmp_path.name}"
    baseline(name, about="counts its thoughts")(thinker)
    runs = [record(f"def f(n):\n    return n + {k}\n", "f", "(1)", id=str(k)) for k in range(4)]
    how = AskSettings(methods=("emulate",))
    (first,) = ask(runs, ["output"], [f"deskcheck/{name}"], out=tmp_path / "run", settings=how)
    assert [row.answer for row in first.samples] == ["1"] * 4
    (kept,) = json.loads((tmp_path / "run" / "shared.json").read_text()).values()
    assert kept == "1. 1"
    solvers.forget_shared()  # as another process begins
    (tmp_path / "run" / "results.json").unlink()
    for log in (tmp_path / "run" / "logs").glob("*.eval"):
        log.unlink()
    (again,) = ask(runs, ["output"], [f"deskcheck/{name}"], out=tmp_path / "run", settings=how)
    assert [row.answer for row in again.samples] == ["1"] * 4
    assert sum("Answer no question yet" in prompt for prompt in asked) == 1


def command(benchmark: Path, out: str, *more: str) -> tuple[str, ...]:
    return (
        "ask",
        str(benchmark),
        "-m",
        "openai-api/local/some",
        "--out",
        out,
        "--max-connections",
        "2",
        *more,
    )


def here(benchmark: Path, server: Provider, out: str, *more: str) -> None:
    """The command in this process."""
    with mock.patch.dict(os.environ, server.environment):
        done = deskcheck(*command(benchmark, out, *more), cwd=benchmark.parent)
    assert done.returncode == 0, done.stderr


def asking(benchmark: Path, server: Provider, out: str, *more: str) -> subprocess.Popen[str]:
    listening = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(
        [*PROCESS, *command(benchmark, out, *more)],
        cwd=benchmark.parent,
        env={**os.environ, **server.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=listening,
    )


@pytest.mark.slow
def test_a_limit_of_inspect_keeps_what_there_is(benchmark: Path) -> None:
    """The tokens of a sample are spent with the first answer, which a provider counts: it is scored, not lost."""
    with provider(answer=repairer) as server:
        here(benchmark, server, "limited", "--method", METHODS[1], "--limit", "2", "--token-limit", "150")
    rows = pq.read_table(benchmark.parent / "limited" / "samples.parquet").to_pylist()
    assert [(row["score"], row["reading"]) for row in rows] == [(0.0, "answered")] * 2
    for row in rows:
        kinds = [each["kind"] for each in json.loads(row["attempts"])["attempts"]]
        assert kinds[:2] == ["call", "tests"]
        assert len(kinds) < 8


@pytest.mark.exhaustive
def test_a_kill_loses_no_finished_question(benchmark: Path) -> None:
    """After SIGKILL the same command asks what was not finished, and comes to the result of a run that nobody killed,
    attempts and all."""
    method = ("--method", METHODS[2])

    def rows(out: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = pq.read_table(benchmark.parent / out / "samples.parquet").to_pylist()
        return found

    with provider(answer=repairer) as server:
        here(benchmark, server, "whole", *method)
    with provider(answer=repairer, pause_s=0.5) as server:
        with asking(benchmark, server, "killed", *method) as process:
            wait_for(process, lambda: server.answered.total() >= TASKS)
            process.kill()
            process.communicate(timeout=300)
        assert not (benchmark.parent / "killed" / "results.json").exists()
        with asking(benchmark, server, "killed", *method) as process:
            _, told = process.communicate(timeout=300)
        assert process.returncode == 0, told
        assert server.requests.total() < 2 * 2 * TASKS  # some were finished
    assert rows("killed") == rows("whole")
    assert {row["score"] for row in rows("killed")} == {1.0}


@pytest.mark.slow
def test_the_cache_keeps_draws_apart(
    benchmark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several samples of one prompt are several requests; asked again, all of them come out of the cache."""
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path))
    counts = []
    with provider(answer=repairer) as server:
        for out in ("first", "second"):
            here(benchmark, server, out, "--method", "majority:samples=3", "--limit", "2", "--cache")
            counts.append(server.requests.total())
    assert counts == [6, 6]
