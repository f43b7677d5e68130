"""Rewards are the scores of `offline score`, and what fails on our side is none of them. With TRL: tests/teach/test_grpo.py."""

import ast
import contextlib
import json
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice, takewhile
from pathlib import Path
from typing import Any

import pytest

import deskcheck
from deskcheck.ask import NOTEBOOK_QUESTIONS, QUESTIONS, NotebookOptions, Sample, score_answer
from deskcheck.ask.answers.parsing import written
from deskcheck.ask.questions.lines import write_questions
from deskcheck.ask.rewards import Reward
from deskcheck.ask.scoring.judge import AnswerNotRun
from deskcheck.recording import InputError, Recording
from tests.ask.test_changes import STACK
from tests.ask.test_control_and_objects import CALLS, LOOPS, SHARED
from tests.ask.test_notebooks import ANALYSIS, run
from tests.ask.test_score_job import (
    HOSTILE,
    KILLS_THE_SANDBOX,
    run_question,
    said,
    samples_of,
    scored,
    write,
)

Record = Callable[..., Recording]
CODE = "def f(n):\n    total = 0\n    for i in range(n):\n        total += i * i\n    return total\n"
RAISES = "def f(xs):\n    total = 0\n    for x in xs:\n        total += 10 // x\n    return total\n"


@pytest.fixture(scope="module")
def questions(record: Record, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Questions of every kind there is."""
    folder = tmp_path_factory.mktemp("asked")
    recordings = [
        *(record(CODE, "f", f"({n},)", id=f"squares/{n}") for n in (3, 4)),
        record(RAISES, "f", "([5, 0],)", id="raises"),
        record(LOOPS, "f", "([1, -1, 2],)", id="loops"),
        record(CALLS, "f", "([2, 1],)", id="calls"),
        record(SHARED, "f", "(3,)", id="shared"),
        record(STACK, "fill", "(S, [1, 2], 3)", id="changes"),
        record("print('a b')\nprint([1])\n", id="prints"),
    ]
    write_questions(folder / "runs.jsonl", recordings, [*QUESTIONS])
    run(folder, "analysis", ANALYSIS)
    write_questions(
        folder / "cells.jsonl", folder, [*NOTEBOOK_QUESTIONS], notebooks=NotebookOptions(state=("used",))
    )
    path = folder / "questions.jsonl"
    path.write_text((folder / "runs.jsonl").read_text() + (folder / "cells.jsonl").read_text())
    return path


@pytest.fixture(scope="module")
def unrun(questions: Path) -> Path:
    """Those of them whose answers are not run: which these are, `score` says."""
    lines = []
    for line, sample in zip(questions.read_text().splitlines(), samples_of(questions).values(), strict=True):
        with contextlib.suppress(ValueError):  # it runs answers, and was not told where
            assert score_answer(sample, written(sample.data["form"], sample.answer)).score == 1
            lines.append(line)
    path = questions.with_name("unrun.jsonl")
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def damaged(text: str, rng: random.Random) -> str:
    """Some characters are lost, doubled or others."""
    return "".join(
        rng.choice(["", c + c, chr(rng.randrange(0x250))]) if rng.random() < 0.1 else c for c in text
    )


def near_misses(answer: str, rng: random.Random) -> Iterator[str]:
    """The same value in other words, and others that look like it."""
    yield from (
        f"  {answer}\n",
        f"({answer})",
        f"{answer}0",
        f"-{answer}",
        answer[:-1],
        f"{answer} # so",
        f"[{answer}]",
    )
    yield answer.replace("1", "2", 1)
    yield repr(answer)
    yield damaged(answer, rng)


def completions(samples: list[Sample], rng: random.Random) -> Iterator[tuple[Sample, str]]:
    """What a model in training might write, for ever: of each question in turn a right answer, a near miss, another's
    answer, a list without its end, or a text that holds none or more than one; now and then a huge one."""
    for count, sample in enumerate(cycle(samples)):
        answer = sample.answer
        texts = [
            written(sample.data["form"], answer),
            answer,
            said(rng.choice([*near_misses(answer, rng)])),
            said(rng.choice(samples).answer),
            said(answer.rpartition(", ")[0] + "]" if answer.startswith("[") else answer),
            damaged(said(answer), rng),
            said(answer)[: rng.randrange(len(said(answer)))],
            said("no") + said(answer),
            said(answer) + said("no"),
            rng.choice(["", " \n", "[ANSWER][/ANSWER]", "I do not know"]),
            rng.randbytes(60).decode("latin-1"),
            said(rng.randbytes(20).decode("utf-8", "surrogateescape")),
        ]
        yield sample, rng.choice(HOSTILE if count % 211 == 0 else texts)


def rewards_and_scores(
    questions: Path, given: list[tuple[Sample, str]], folder: Path, metric: str
) -> tuple[list[float | None], list[float | None]]:
    """Of the same completions: rewards of two workers, and what `offline score` says."""
    with deskcheck.reward(questions, metric) as reward:
        got = reward(
            completions=[text for _, text in given], id=[sample.id for sample, _ in given], prompts=[]
        )
    answers = write(folder / "a.jsonl", [{"id": sample.id, "completion": text} for sample, text in given])
    rows, scores, _ = scored(questions, [answers], folder / metric, size=5000, samples=True)
    assert scores.statuses == {"scored": len(given)}
    return got, [row["score" if metric == "outcome" else metric] for row in rows]


def test_a_reward_is_the_score(unrun: Path, tmp_path: Path) -> None:
    """Of 300 completions about all kinds that run nothing."""
    samples = [*samples_of(unrun).values()]
    assert {sample.question for sample in samples} >= {*QUESTIONS, *NOTEBOOK_QUESTIONS} - {"input"}
    given = [*islice(completions(samples, random.Random(7)), 300)]
    got, scores = rewards_and_scores(unrun, given, tmp_path, "outcome")
    assert got == scores
    assert {0.0, 1.0} <= {*got}


def test_a_reward_is_what_another_reader_says(unrun: Path) -> None:
    """Of right answers and near misses that Python's own reader reads, those are right whose values are."""
    rng = random.Random(9)
    values = [sample for sample in samples_of(unrun).values() if sample.data["form"] == "value"]
    given = [
        (sample, said(text))
        for sample in values
        for text in (sample.answer, *near_misses(sample.answer, rng))
    ]
    got = deskcheck.reward(unrun)(
        completions=[text for _, text in given], id=[sample.id for sample, _ in given]
    )
    read = [(by_literal(sample, text), reward) for (sample, text), reward in zip(given, got, strict=True)]
    told = [pair for pair in read if pair[0] is not None]
    assert [pair for pair in told if pair[0] != pair[1]] == []
    assert min(sum(reward == each for _, reward in told) for each in (0.0, 1.0)) > 20


def by_literal(sample: Sample, completion: str) -> float | None:
    """The score of an answer that stands alone between the marks and is a Python literal, by Python's own reader and
    its own equality of values of one type; None where these do not decide."""
    between = completion.partition("[ANSWER]")[2].partition("[/ANSWER]")[0]
    if completion != said(between) or sample.data["form"] != "value" or len(between) > 1000:
        return None
    if between in (f"({sample.answer})", f"{sample.answer} # so"):
        return 0.0  # not as repr writes it
    try:
        told, true = ast.literal_eval(between.strip()), ast.literal_eval(sample.answer)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return float(repr(told) == repr(true)) if type(told) in (int, str, list, tuple) else None


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["outcome", "prefix"])
def test_many_rewards_are_the_scores(unrun: Path, tmp_path: Path, metric: str) -> None:
    """Of 10,000 completions about all kinds that run nothing; of the metric, of those about paths."""
    samples = [*samples_of(unrun).values()]
    given = [*islice(completions(samples, random.Random(8)), 10_000 if metric == "outcome" else 4000)]
    got, scores = rewards_and_scores(unrun, given, tmp_path, metric)
    assert got == scores
    assert len({*got}) > (1 if metric == "outcome" else 3)


def test_a_metric_is_what_it_says(unrun: Path) -> None:
    """`prefix` is the share of lines before the first mistake; a question without it gives None, and no row."""
    by_kind = {sample.question: sample for sample in samples_of(unrun).values()}
    path, other = by_kind["path"], by_kind["output"]
    true = json.loads(path.answer)
    rewarded = deskcheck.reward(unrun, "prefix")
    assert rewarded.__name__ == "deskcheck_prefix"
    tries = [[*true[:n], 999] for n in range(len(true))] + [true]
    got = rewarded(completions=[said(lines) for lines in tries], id=[path.id] * len(tries))
    right = [
        sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(lines, true, strict=False)))
        for lines in tries
    ]
    assert got == pytest.approx([n / len(true) for n in right])
    assert rewarded(completions=[said(other.answer)], id=[other.id]) == [None]
    assert {row["id"] for row in rewarded.rows()} == {
        s.id for s in samples_of(unrun).values() if s.question == "path"
    }


def test_completions_may_be_conversations(unrun: Path) -> None:
    """Of messages, the assistant's last counts, also in parts; rows are texts or conversations; rows of other tasks
    have no reward."""
    sample = next(iter(samples_of(unrun).values()))
    rewarded = deskcheck.reward([sample])
    right = {"role": "assistant", "content": said(sample.answer)}
    parts = {
        "role": "assistant",
        "content": [{"type": "text", "text": said(sample.answer)}, {"type": "image"}],
    }
    wrong = {"role": "assistant", "content": said("nothing")}
    asks = {"role": "user", "content": said(sample.answer)}
    chats: list[Any] = [
        [right],
        [wrong, right],
        [right, asks, wrong],
        [parts],
        [{"role": "assistant", "content": None}],
    ]
    got = rewarded(completions=[*chats, "whatever"], id=[*[sample.id] * 5, None], trainer_state=None)
    assert got == [1.0, 1.0, 0.0, 1.0, 0.0, None]
    assert [*rewarded.rows()] == [{"prompt": sample.prompt, "id": sample.id}]
    assert [*rewarded.rows(chat=True)] == [
        {"prompt": [{"role": "user", "content": sample.prompt}], "id": sample.id}
    ]
    for bad in (b"bytes", 7, None, [], [asks], ["text"], {"role": "assistant"}):
        with pytest.raises(InputError, match="neither a text nor a conversation"):
            rewarded(completions=[bad], id=[sample.id])


def test_an_answer_that_a_limit_cut_counts_only_if_it_is_closed(unrun: Path) -> None:
    """Or if the stop word ended it, as `offline score` has it for a line with that `stop_reason`."""
    sample = next(iter(samples_of(unrun).values()))
    rewarded = deskcheck.reward([sample])
    texts = [f"[ANSWER]{sample.answer}", said(sample.answer)]
    for reason, right in [("length", [0.0, 1.0]), ("stop", [0.0, 1.0]), ("[/ANSWER]", [1.0, 1.0])]:
        assert rewarded(completions=texts, id=[sample.id] * 2, stop_reason=[reason] * 2) == right
    assert rewarded(completions=texts, id=[sample.id] * 2) == [0.0, 1.0]
    with pytest.raises(InputError, match="1 stop reasons, and 2 completions"):
        rewarded(completions=texts, id=[sample.id] * 2, stop_reason=["stop"])


def test_what_cannot_be_rewarded_is_refused(unrun: Path, tmp_path: Path) -> None:
    """No 0 for what is no answer to a question of these: no ids, too few, unknown ones, a file that was changed."""
    sample = next(iter(samples_of(unrun).values()))
    path = tmp_path / "q.jsonl"
    path.write_text(unrun.read_text())
    rewarded = deskcheck.reward(path)
    for ids, message in [
        (None, "the column 'id' is missing"),
        ([], "0 ids, and 1 completions"),
        (["nobody's"], 'the id "nobody\'s" is unknown'),
        ([7], "the id 7 is unknown"),
    ]:
        with pytest.raises(InputError, match=message):
            rewarded(completions=["x"], id=ids)  # type: ignore[arg-type]
    with pytest.raises(
        InputError, match=r"unknown metric 'speed'. The metrics of these questions are outcome, by_value, "
    ):
        deskcheck.reward(path, "speed")
    with pytest.raises(InputError, match="have the id"):
        deskcheck.reward([sample, sample])
    with pytest.raises(InputError, match="no samples: "):
        deskcheck.reward([])
    with pytest.raises(ValueError, match="workers=0"):
        deskcheck.reward(path, workers=0)
    with pytest.raises(ValueError, match="ignore"):
        deskcheck.reward(path, on_failure="ignore")
    path.write_text(path.read_text().replace(": 1", ": 2"))
    with pytest.raises(InputError, match="was changed after it was read"):
        rewarded(completions=["x"], id=[sample.id])
    path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        rewarded(completions=["x"], id=[sample.id])


# -- answers that are run ----------------------------------------------------------------------------

SLOW = "import time\n\ndef f(n):\n    time.sleep(0.03)\n    return n % 7\n"


RUN = run_question(SLOW, "slow", "3")
ASKED: dict[str, Any] = {"completions": [said(f"f({n})") for n in range(28)], "id": [RUN.id] * 28}
RIGHT = [float(n % 7 == 3) for n in range(28)]


def children(pid: int) -> list[int]:
    """Processes that a process has started and that have not ended."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended meanwhile
            found += map(int, (task / "children").read_text().split())
    return found


def servers() -> list[int]:
    """Of these, fork servers."""
    found = []
    for pid in children(os.getpid()):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if any(word.endswith(b"/child.py") for word in words):
                found.append(pid)
    return found


def last_descendants(pid: int) -> list[int]:
    """Processes below it that have started none: of a server that runs a program, the program's."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        below = children(pid)
        return [each for child in below for each in last_descendants(child)] or [pid]
    return []


def kill_soon(servers: set[int], find: Callable[[int], list[int]], killed: list[int]) -> None:
    """Kill what is found of each, while answers are run."""
    time.sleep(0.1)
    killed += [pid for server in servers for pid in find(server)]
    for pid in killed:
        with contextlib.suppress(ProcessLookupError):  # the answer's run was over
            os.kill(pid, signal.SIGKILL)


@pytest.mark.level("strict")
@pytest.mark.slow
def test_a_killed_worker_changes_no_reward() -> None:
    """Of two workers, both are killed while they run answers; then the processes of the answers themselves. Others take
    their places, also after `close`, which ends all of them. One worker gives the same."""
    before = servers()
    with deskcheck.reward([RUN]) as rewarded:
        assert rewarded(**ASKED) == RIGHT
        for find in (lambda pid: [pid], last_descendants):
            first = {*servers()} - {*before}
            killed: list[int] = []
            killer = threading.Thread(target=kill_soon, args=(first, find, killed))
            killer.start()
            assert rewarded(**ASKED) == RIGHT
            killer.join()
            assert len(killed) == 2
            assert {*servers()} - {*before} - {*killed}
    assert {*servers()} <= {*before}
    assert rewarded(completions=[said("f(3)")], id=[RUN.id]) == [1.0]
    rewarded.close()
    rewarded.close()
    assert {*servers()} <= {*before}
    with deskcheck.reward([RUN], workers=1) as alone:
        assert alone(**ASKED) == RIGHT


def test_a_sandbox_that_fails_gives_no_reward() -> None:
    """Unconfined, an answer whose run kills the server three times: an error that names it, or None with a warning.
    The others have their rewards."""
    sample = run_question(KILLS_THE_SANDBOX, "sandbox")
    given = {"completions": [said(f"f({n})") for n in (1, 9, 2)], "id": [sample.id] * 3}
    warned = pytest.warns(RuntimeWarning, match="sandbox:input: the sandbox failed: .* has no reward")
    with deskcheck.reward([sample], confinement="trusted", on_failure="none") as rewarded, warned:
        assert rewarded(**given) == [1.0, None, 0.0]
    with deskcheck.reward([sample], confinement="trusted") as rewarded:
        with pytest.raises(AnswerNotRun, match="the answer to sandbox:input could not be run"):
            rewarded(**given)
        assert rewarded(completions=[said("f(1)")], id=[sample.id]) == [1.0]


def _in_child(rewarded: Reward) -> list[float | None]:
    return rewarded(**ASKED)


@pytest.mark.level("strict")
@pytest.mark.parametrize("start", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_other_processes_have_sandboxes_of_their_own(start: str, questions: Path) -> None:
    """A fork while the pool is at work, and a process that is given the pickled object: both get the rewards, and the
    parent's processes outlive theirs."""
    others = set(servers())  # of sandboxes of other tests, which may end meanwhile
    with deskcheck.reward([RUN]) as rewarded:
        assert rewarded(**ASKED) == RIGHT
        mine = set(servers()) - others
        assert len(mine) == 2
        context: Any = multiprocessing.get_context(start)
        with context.Pool(1) as pool:
            assert pool.apply(_in_child, (rewarded,)) == RIGHT
        if start == "fork":
            pid = os.fork()
            if pid == 0:  # ends as `sys.exit` does: with what is to be done at exit
                rewarded.close()
                import atexit

                atexit._run_exitfuncs()
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        assert set(servers()) - others == mine
        assert rewarded(**ASKED) == RIGHT
    of_file = pickle.loads(pickle.dumps(deskcheck.reward(questions, "prefix")))
    assert [*of_file.rows()] == [*deskcheck.reward(questions, "prefix").rows()]
    assert of_file.__name__ == "deskcheck_prefix"


SCRIPT = """
import deskcheck, threading
from tests.ask.test_rewards import ASKED, RIGHT, RUN, servers
rewarded = deskcheck.reward([RUN])
assert rewarded(**ASKED) == RIGHT
print(*servers())
"""


@pytest.mark.slow
@pytest.mark.level("strict")
def test_nothing_outlives_the_interpreter() -> None:
    """Nobody has closed the reward: its processes end with the interpreter, which ends well."""
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    pids = ran.stdout.split()
    assert pids
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
