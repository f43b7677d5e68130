"""A run of `ask` that is stopped: what is answered is kept, and the same command goes on from there."""

import functools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from deskcheck.ask import AskSettings, Result, Sampling, ask
from tests.ask.provider import ENDINGS, LONG_S, TROUBLE, Provider, lot, provider, wait_for
from tests.command import PROCESS
from tests.command import deskcheck as command_line
from tests.conftest import unmeasured
from tests.sample import some

pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show that a stopped run goes on")

PROGRAMS = [
    {
        "code": f"def f{k}(n):\n    m = n * {k}\n    return m + {j}\n",
        "entry": f"f{k}",
        "inputs": [f"({i},)" for i in range(3)],
    }
    for k, j in ((2, 1), (3, 5), (4, 4), (5, 0))
]
KINDS = ("-q", "output,next_line", "--per-recording", "1")
ASK = ("ask", "recorded", *KINDS, "-m", "openai-api/local/some", "--max-connections", "4")
ANSWERS = 24
"""Longer than anything takes here, on a busy machine too."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("going-on")
    (folder / "programs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in PROGRAMS))
    done = command_line("record", "programs.jsonl", "--out", "recorded", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def served() -> Iterator[Provider]:
    with provider(TROUBLE, ENDINGS, pause_s=0.02) as server:
        yield server


def start(place: Path, server: Provider, *more: str, **environment: str) -> subprocess.Popen[str]:
    # A shell starts what it puts into the background with SIGINT ignored, and that is inherited.
    listening = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(
        [*PROCESS, *ASK, *more],
        cwd=place,
        env={**os.environ, **server.environment, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=listening,
    )


def run(place: Path, server: Provider, *more: str, **environment: str) -> tuple[int, str, str]:
    with start(place, server, *more, **environment) as process:
        printed, said = process.communicate(timeout=LONG_S)
    return process.returncode, printed, said


def result(folder: Path) -> tuple[list[Any], list[Any], list[Any]]:
    """All of a run but when and where it was, and how long it took."""
    told = json.loads((folder / "results.json").read_text())["results"]
    used = pq.read_table(folder / "usage.parquet").to_pylist()
    return (
        pq.read_table(folder / "samples.parquet").to_pylist(),
        [{**row, "folder": ""} for row in told],
        [{**row, "time_s": None} for row in used],
    )


@pytest.fixture(scope="module")
def undisturbed(place: Path, served: Provider) -> tuple[list[Any], list[Any], list[Any]]:
    status, _, said = run(place, served, "--out", "undisturbed")
    assert status == 0, said
    found = result(place / "undisturbed")
    assert len(found[0]) == ANSWERS
    assert {row["reading"] for row in found[0]} > {"answered", "cut"}
    return found


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_answered(
    place: Path, undisturbed: tuple[list[Any], list[Any], list[Any]]
) -> None:
    """Exit status 130, how many answers are kept, no results of a part. The same command, which names no folder, goes
    on in the same folder, asks for none of them again, and ends in the result of a run that nobody stopped."""
    with provider(TROUBLE, ENDINGS, pause_s=0.02) as server:
        with start(place, server) as process:
            wait_for(process, lambda: server.answered.total() > 6)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=LONG_S)
        assert process.returncode == 130, said
        total = len(undisturbed[0])
        (folder,) = (place / "recorded" / "ask").iterdir()
        assert (
            f"of {total} answers were scored; they are kept in {folder.relative_to(place)}: rerun the command"
            in said
        )
        kept = int(said.partition(f" of {total} answers")[0].split()[-1])
        assert 0 < kept < total
        assert not list(folder.glob("*.parquet")) + list(folder.glob("results.json"))
        before = len(server.bodies)
        status, printed, said = run(place, server)
        assert status == 0, said
        assert f"{folder.relative_to(place)}: continues the run" in said
        assert f"answers and logs: {folder.relative_to(place)}" in printed
        asked = {body["messages"][-1]["content"] for body in server.bodies[before:]}
        assert len(asked) == total - kept
        before = len(server.bodies)
        assert result(folder) == undisturbed
        status, again, said = run(place, server, "--out", str(folder))
        assert (status, again) == (0, printed.replace(str(folder.relative_to(place)), str(folder))), said
        assert len(server.bodies) == before, "a finished run asks nothing"


def disturbed(place: Path, served: Provider, name: str, seed: int) -> tuple[list[Any], list[Any], list[Any]]:
    """The result of a run that is killed or interrupted at a random moment, and started again until it ends."""
    draw = random.Random(seed)
    before = served.answered.total()
    after, pause_s = draw.randrange(-4, ANSWERS), draw.random() / 4
    with start(place, served, "--out", name) as process:
        if after < 0:
            wait_for(process, (place / name).exists)
        else:
            wait_for(process, lambda: served.answered.total() - before > after)
        time.sleep(pause_s)
        process.send_signal(draw.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
        process.communicate(timeout=LONG_S)
    status, _, said = run(place, served, "--out", name)
    assert status == 0, (seed, said)
    return result(place / name)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", some(range(23), 0))
def test_stopped_at_random_moments(
    place: Path, served: Provider, undisturbed: tuple[list[Any], list[Any], list[Any]], seed: int
) -> None:
    """Killed or interrupted, and started again: the result of an undisturbed run."""
    assert disturbed(place, served, f"some-{seed}", seed) == undisturbed


@pytest.mark.exhaustive
def test_a_provider_that_fails_is_no_score(place: Path) -> None:
    """A key that is refused: exit status 2 with the reason, nothing scored; when the provider is well again the same
    command ends."""
    with provider(endings=("refused key",)) as server:
        status, printed, said = run(place, server, "--out", "failing")
        assert (status, printed) == (2, ""), said
        assert "no such key" in said
        assert "Traceback" not in said
        assert f"None of {ANSWERS} answers" in said
        assert not (place / "failing" / "results.json").exists()
        server.endings = ("stop",)
        status, printed, said = run(place, server, "--out", "failing")
        assert status == 0, said
        assert "openai-api/local/some" in printed


def not_scored(found: list[Result]) -> int:
    """Requests that failed, all for one reason."""
    (why,) = {why for result in found for why in result.failed}
    assert "no such key" in why
    return sum(count for result in found for count in result.failed.values())


@pytest.mark.parametrize(
    ("ending", "why"),
    [
        ("page", "<html>"),
        ("other data", "the answer is not a completion ("),
        ("never", "no answer came in time (--timeout)"),
    ],
)
def test_a_request_that_fails_costs_itself(place: Path, ending: str, why: str) -> None:
    """What is not a completion, and what never comes: the others are scored, the status is 2, and the same command
    asks the rest."""
    with provider(endings=("stop", "stop", "stop", ending)) as server:
        more = ("--out", ending, "--max-retries", "0", "--timeout", "1", "--json", "--limit", "4")
        status, printed, said = run(place, server, *more)
        lost = sum(lot(prompt, "ending", server.endings) == ending for prompt in server.requests)
        assert 0 < lost < 8
        assert status == 2, said
        assert f"{lost} requests failed and are not in the scores: " in said
        assert why in said
        assert "Traceback" not in said
        assert sum(found["n"] for found in json.loads(printed)["results"]) == 8 - lost
        server.endings = ("stop",)
        status, printed, said = run(place, server, *more)
        assert (status, sum(found["n"] for found in json.loads(printed)["results"])) == (0, 8), said


@pytest.mark.slow
def test_it_goes_on_elsewhere(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the run folder was moved, twice, and by another path to the recordings: only the rest
    is asked."""
    (place / "by-link").symlink_to(place / "recorded")
    with provider(endings=("stop", "refused key")) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)

        def asked(recordings: str, out: str) -> list[Result]:
            kinds = ["output", "next_line"]
            model = "openai-api/local/some"
            settings = AskSettings(sampling=Sampling(per_recording=1))
            return ask(place / recordings, kinds, [model], settings=settings, out=place / out)

        found = asked("recorded", "here")
        kept = ANSWERS - sum(lot(p, "ending", server.endings) == "refused key" for p in server.requests)
        assert 0 < kept < ANSWERS
        assert (sum(result.n for result in found), not_scored(found)) == (kept, ANSWERS - kept)
        (place / "here").rename(place / "there")
        assert not_scored(asked("by-link", "there")) == ANSWERS - kept
        (place / "there").rename(place / "nowhere")
        monkeypatch.chdir(place)
        server.endings = ("stop",)
        before = len(server.bodies)
        assert sum(result.n for result in asked("recorded", "nowhere")) == ANSWERS
        assert len(server.bodies) - before == ANSWERS - kept


@pytest.mark.exhaustive
def test_inspect_can_go_on_too(place: Path) -> None:
    """`inspect eval-retry` makes the task again from its arguments, and asks for the rest."""
    with provider(pause_s=0.05) as server:
        with start(place, server, "--out", "retried") as process:
            wait_for(process, lambda: server.answered.total() > 6)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=LONG_S)
        (log, *_) = (place / "retried" / "logs").glob("*output*.eval")
        before = server.answered.total()
        done = subprocess.run(
            [sys.executable, "-m", "inspect_ai", "eval-retry", str(log), "--display", "plain"],
            cwd=place,
            env={**os.environ, **server.environment, "XDG_DATA_HOME": str(place / "data")},
            capture_output=True,
            text=True,
            timeout=LONG_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        assert 0 < server.answered.total() - before < ANSWERS, "it asks the rest, and only the rest"


@pytest.mark.exhaustive
def test_prompts_are_continued_with_examples(place: Path) -> None:
    """Without a chat: a prompt ends with [ANSWER], and has as many examples as asked for, of other programs."""
    with provider() as server:
        more = ("--completion", "--shots", "2", "--json", "--out", "continued")
        status, _printed, said = run(place, server, *more)
        assert status == 0, said
        assert {body["prompt"][-9:] for body in server.bodies} == {"\n[ANSWER]"}
        assert all(body["stop"] == ["[/ANSWER]"] for body in server.bodies)
        assert {body["prompt"].count("An example.") for body in server.bodies} == {2}
        for body in server.bodies:
            *shown, asked = re.findall(r"def (f\d)\(n\)", body["prompt"])
            assert len(set(shown)) == 2
            assert asked not in shown
        rows = pq.read_table(place / "continued" / "samples.parquet").to_pylist()
        assert all(row["completion"].startswith("[ANSWER]") for row in rows)
        status, printed, said = run(place, server, "--shots", "4", "--out", "too-many")
        assert status == 2
        assert "not asked for output: 12 4 examples in a prompt need 5 programs" in said + printed
        status, _, said = run(place, server, "--completion", "--method", "chain_of_thought", "--out", "talk")
        assert (status, "--completion is for the method direct" in said) == (2, True)


def test_settings_reach_the_provider(place: Path) -> None:
    """Limits, temperature, seed, epochs, prices; a sample that meets its limit of tokens is cut. The card
    tells them."""
    with provider() as server:
        given: tuple[str, ...] = (
            "--stop",
            "[/ANSWER]",
            "--stop",
            "END",
            "--max-tokens",
            "500",
            "--epochs",
            "2",
        )
        given += ("--temperature", "0", "--model-seed", "7")
        prices = ("--price", "openai-api/local/some=10000,20000", "--cost-limit", "50")
        status, printed, said = run(place, server, *given, *prices, "--out", "set", "--json")
        assert status == 0, said
        wanted = {"max_tokens": 500, "temperature": 0, "seed": 7}
        assert all(body["stop"] == ["[/ANSWER]", "END"] for body in server.bodies)
        assert all(wanted.items() <= body.items() for body in server.bodies)
        assert set(server.requests.values()) == {2}
        results = json.loads(printed)["results"]
        assert [found["epochs"] for found in results] == [2, 2]
        rows = pq.read_table(place / "set" / "samples.parquet").to_pylist()
        assert len(rows) == 2 * sum(found["n"] for found in results) == len(server.bodies)
        assert {row["epoch"] for row in rows} == {1, 2}
        used = pq.read_table(place / "set" / "usage.parquet").to_pylist()
        assert {(row["input_tokens"], row["output_tokens"], row["cost"]) for row in used} == {(100, 10, 1.2)}
        card = json.loads((place / "set" / "run.json").read_text())
        assert card["generation"] == {**wanted, "epochs": 2, "token_limit": None, "cost_limit": 50} | {
            "prices": {"openai-api/local/some": [10000, 20000]},
            "stop": ["[/ANSWER]", "END"],
        }

        status, printed, said = run(place, server, "--token-limit", "50", "--out", "short", "--json")
        assert {found["cut"] - found["n"] for found in json.loads(printed)["results"]} == {0}, said


def test_the_end_closes_an_answer_if_the_stop_word_was_sent(place: Path) -> None:
    """A server does not send it; without that request a mark that is not closed is no answer."""
    with provider(endings=("stop word",)) as server:
        for name, more, reading in (
            ("open", (), "unreadable"),
            ("closed", ("--stop", "[/ANSWER]"), "answered"),
        ):
            _, _, said = run(place, server, *more, "--out", name)
            rows = pq.read_table(place / name / "samples.parquet").to_pylist()
            assert {row["reading"] for row in rows} == {reading}, said
            assert all(row["completion"].endswith("[/ANSWER]") == bool(more) for row in rows)


@pytest.mark.exhaustive
def test_the_cache_answers_instead_of_the_provider(place: Path) -> None:
    """The same questions a second time reach nobody."""
    cached = {"INSPECT_CACHE_DIR": str(place / "cache")}
    with provider() as server:
        for name in ("first", "second"):
            status, _, said = run(place, server, "--cache", "--out", name, **cached)
            assert (status, set(server.requests.values())) == (0, {1}), said


@pytest.mark.exhaustive
def test_refused_requests_are_no_score(place: Path) -> None:
    """Each request is too long for the model: counted as refused, with a message, and exit status 1."""
    with provider(endings=("too long",)) as server:
        status, printed, said = run(place, server, "--out", "too-long", "--json")
    assert status == 1, said
    assert "gave no text at all" in said
    for found in json.loads(printed)["results"]:
        assert (found["refused"], found["unreadable"]) == (found["n"], 0)
    rows = pq.read_table(place / "too-long" / "samples.parquet").to_pylist()
    assert {(row["reading"], row["stop_reason"]) for row in rows} == {("refused", "model_length")}


def test_nothing_to_ask(tmp_path: Path) -> None:
    """No score is no success: what was run by its user gives no question, and the command says why."""
    (tmp_path / "app.py").write_text("print(1)\n")
    assert command_line("run", "-q", "--out", "runs", "app.py", cwd=tmp_path).returncode == 0
    asked = command_line("ask", "runs", "-q", "output", "-m", "deskcheck/oracle", cwd=tmp_path)
    assert asked.returncode == 2
    assert "not asked for output: 1 recorded by `deskcheck run`" in asked.stdout
    assert "nothing was asked" in asked.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize("most_kb", some([2, 10, 20], 10))
def test_a_disk_that_refuses(place: Path, most_kb: int) -> None:
    """No file may be longer than so many KB, which the kernel says as a full disk does: our error, no traceback. With
    room again the same command ends."""
    name = f"small-{most_kb}"
    limit = [sys.executable, "-c", LIMITED, str(most_kb << 10)]
    command = [*limit, "ask", "recorded", "-q", "output,next_line,state,path", "-m", "deskcheck/oracle"]
    with unmeasured():  # its file would be too long, too
        done = subprocess.run(
            [*command, "--out", name], cwd=place, capture_output=True, text=True, timeout=LONG_S, check=False
        )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert f"deskcheck: {name}: cannot be written: File too large." in done.stderr.splitlines()[-1]
    assert not (place / name / "results.json").exists()
    again = command_line(*command[len(limit) :], "--out", name, cwd=place)
    assert again.returncode == 0, again.stderr
    assert {row["score"] for row in pq.read_table(place / name / "samples.parquet").to_pylist()} == {1.0}


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.argv[1:2] = []
from deskcheck.cli import main
main()
"""
