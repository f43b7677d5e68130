"""Questions about calls that only begin something: what deskcheck ran to its end is what the prompt says."""

import asyncio
import textwrap
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import deskcheck
from deskcheck.ask import QUESTIONS, score_answer
from deskcheck.recording import Recording
from tests.tracer.test_text_of_a_call import imported


@pytest.fixture
def traced(tmp_path: Path) -> Callable[..., tuple[Recording, Any]]:
    def make(head: str, work: str, n: int = 3) -> tuple[Recording, Any]:
        code = f"import asyncio, contextlib\n{head} f(n):\n    xs = [n]\n    for i in range(n):\n        xs.append(i)\n"
        path = tmp_path / "some.py"
        path.write_text(code + textwrap.indent(work, "        "))
        f = imported(path)
        return deskcheck.trace(f, n), f

    return make


async def _drawn(values: Any) -> list[Any]:
    return [value async for value in values]


@pytest.mark.parametrize(
    ("head", "work", "call", "run"),
    [
        ("def", "yield i * 2\n", "list(f(3))", list),
        (
            "async def",
            "await asyncio.sleep(0)\nif i == 2:\n    return xs\n",
            "asyncio.run(f(3))",
            asyncio.run,
        ),
        ("async def", "yield i + n\n", "[value async for value in f(3)]", lambda it: asyncio.run(_drawn(it))),
    ],
)
def test_the_prompt_says_what_runs_it(
    traced: Any, head: str, work: str, call: str, run: Callable[[Any], Any]
) -> None:
    """What is asked about a call is true of the expression that the prompt shows; the call alone runs nothing."""
    recording, f = traced(head, work)
    (sample,) = QUESTIONS["output"](recording)
    assert sample.parts["question"] == f"Call: {call}"
    assert sample.answer == repr(run(f(3)))
    assert score_answer(sample, f"[ANSWER]{sample.answer}[/ANSWER]").score == 1
    for kind in ("state", "path", "visit", "iterations"):
        samples = [*QUESTIONS[kind](recording)]
        assert samples
        assert all(f"How it is run: {call}" in one.parts["question"] for one in samples)
    for kind in ("input", "changes"):
        assert [*QUESTIONS[kind](recording)] == []


def test_what_a_decorator_may_have_run(traced: Any) -> None:
    """Of a generator under a decorator nobody can tell from its text who draws it."""
    recording, _ = traced("@contextlib.contextmanager\ndef", "yield i\n")
    excluded: Counter[str] = Counter()
    assert [*QUESTIONS["path"](recording, excluded=excluded)] == []
    assert [*excluded] == ["it calls a decorated generator or coroutine, which the decorator may run"]


def test_a_generator_that_was_closed(traced: Any) -> None:
    recording, _ = traced("def", "yield i\n", n=1001)
    excluded: Counter[str] = Counter()
    assert [*QUESTIONS["output"](recording, excluded=excluded)] == []
    assert [*excluded] == ["its generator was closed before its end"]
