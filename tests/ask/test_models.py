"""The two models built in: the oracle, which knows, and the guess, which sees the prompt alone."""

from collections.abc import Callable

import pytest

from deskcheck.ask import QUESTIONS, Sample, score_answer
from deskcheck.ask.baselines import guess, oracle
from deskcheck.ask.scoring.sandbox import score_in, shared
from deskcheck.recording import Program, Recording, RunResult
from tests.ask.conftest import OF_RETURNS, soon
from tests.sample import spread

Record = Callable[..., Recording]
Run = Callable[[Program], RunResult]

SMALL = """\
def f(n, step=2):
    total = 1
    for i in range(0, n, step):
        total += i
    return total
"""


def all_samples(recordings: list[Recording], kind: str) -> list[Sample]:
    return [sample for recording in recordings for sample in QUESTIONS[kind](recording)]


@pytest.mark.parametrize("recorded", spread(["cruxeval", "cruxeval_all"], 2))
@pytest.mark.parametrize("kind", [kind for kind in OF_RETURNS if kind != "input"])
def test_the_oracle_is_always_right(kind: str, recorded: str, request: pytest.FixtureRequest) -> None:
    """All of CRUXEval: the truth is scored right. Anything less would be a fault of ours."""
    samples = all_samples(request.getfixturevalue(recorded), kind)
    oracle.remember(samples)
    wrong = [s.id for s in samples if score_answer(s, oracle.completion(s.prompt)).score != 1]
    assert wrong == []
    oracle.forget(samples)
    assert score_answer(samples[0], oracle.completion(samples[0].prompt)).answer is None


@pytest.mark.slow
def test_the_oracle_is_right_about_inputs_in_the_sandbox(cruxeval: list[Recording]) -> None:
    """The recorded arguments, run again by the sandbox, give the recorded result."""
    samples = all_samples(cruxeval[:20], "input")
    oracle.remember(samples)
    assert [score_in(shared(), s, oracle.completion(s.prompt)).score for s in samples] == [1.0] * 20
    oracle.forget(samples)


def test_the_oracle_is_right_about_inputs(record: Record, run_trusted: Run) -> None:
    """Arguments of many forms pass the gate that answers must pass, and give the recorded result."""
    code = (
        "from collections import deque\nimport math\nN = [3]\ndef f(*args, **named):\n    return len(args)\n"
    )
    for arguments in (
        "()",
        "(1, -2.5, 1e400, 3j, None, ..., b'x', 'y')",
        "([1, {2: (3,)}, {4}, set(), frozenset([5])], x=1, **{'y': 2})",
        "(deque([1, 2]), math.inf, lambda x: x + 1, range(3), [i for i in 'abc'])",
        "('%s' % 3, N[:], 'a' * 3, [0] * 4, 2 ** 10, not 1, 1 if 2 else 3, 'abc'[1:], (1, 2)[0])",
        "(bytearray(b'x'), slice(1, 2), complex(1, 2), str(3), sorted({2, 1}, reverse=True))",
    ):
        samples = list(QUESTIONS["input"](record(code, "f", arguments)))
        assert len(samples) == 1, arguments
        oracle.remember(samples)
        assert score_answer(samples[0], oracle.completion(samples[0].prompt), run=run_trusted).score == 1
        oracle.forget(samples)


def test_the_guess_by_kind(record: Record) -> None:
    """What it says about a small program: by its documented rules, from the prompt alone."""
    recording = record(SMALL, "f", "(7,)")
    said = {
        (sample.data.get("line"), sample.data.get("variable"), kind): guess.completion(sample.prompt)
        for kind, ask in QUESTIONS.items()
        for sample in ask(recording, per_recording=99)
    }
    assert said[None, None, "output"] == "[ANSWER]7[/ANSWER]"
    assert said[None, None, "input"] == "[ANSWER]f(13)[/ANSWER]"
    assert said[None, None, "path"] == "[ANSWER][2, 3, 4, 5][/ANSWER]"
    assert said[2, None, "next_line"] == "[ANSWER]3[/ANSWER]"
    assert said[4, None, "next_line"] == "[ANSWER]5[/ANSWER]"
    assert said[4, "total", "state"] == "[ANSWER]1[/ANSWER]"
    assert said[4, "i", "state"] == "[ANSWER]0[/ANSWER]"


@pytest.mark.parametrize(
    ("code", "guessed"),
    [
        ("def f(x):\n    return 3\n", "3"),
        ("def f(x):\n    if x:\n        return [1]\n    return []\n", "[]"),
        ("def f(x):\n    return x > '2'\n", "True"),
        ("def f(x):\n    return not x\n", "True"),
        ("def f(x):\n    return any(x)\n", "True"),
        ("def f(x):\n    return x * 2\n", "'a b'"),
    ],
)
def test_the_guess_at_outputs(record: Record, code: str, guessed: str) -> None:
    """A literal return, a logical one, else the argument."""
    (sample,) = QUESTIONS["output"](record(code, "f", "('a b',)" if "any" not in code else "(['a b'],)"))
    assert guess.completion(sample.prompt) == f"[ANSWER]{guessed}[/ANSWER]"


def test_the_guess_needs_nothing_but_the_prompt(cruxeval: list[Recording]) -> None:
    """It answers every question about published code, readably, without having been told anything."""
    for kind in OF_RETURNS:
        samples = all_samples(cruxeval, kind)
        oracle.forget(samples)
        scores = []
        for sample in samples:
            completion = guess.completion(sample.prompt)
            assert completion.startswith("[ANSWER]")
            if kind != "input":
                scores.append(score_answer(sample, completion).score)
        assert kind == "input" or 0 < sum(scores) < len(scores)


@pytest.mark.parametrize("prompt", ["", "What?", "What does this call return?", "[ANSWER]" * 10_000])
def test_other_prompts_have_no_guess(prompt: str) -> None:
    """A prompt that is not ours gets words, not an answer and no exception."""
    with soon():
        assert "/ANSWER" not in guess.completion(prompt)
        assert "/ANSWER" not in oracle.completion(prompt)
