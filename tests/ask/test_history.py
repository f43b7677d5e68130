"""The kind `history`: all that a variable holds during one call, in order."""

import ast
import sys
from collections import Counter
from itertools import groupby
from types import FrameType
from typing import Any

import pytest

from deskcheck.ask import QUESTIONS, Sample, score_answer
from deskcheck.ask.baselines.guess import completion
from deskcheck.recording import Recording
from tests.ask.conftest import Record, answers, reasons

PICK = """\
def halves(n):
    kept = []
    while n > 1:
        n = n // 2
        kept.append(n)
        n = n + 0
    return kept

def f(xs):
    best = 0
    for x in xs:
        found = halves(x)
        if len(found) > best:
            best = len(found)
    if best > 2:
        raise ValueError(best)
    return best
"""


def asked(recording: Recording) -> dict[str, Sample]:
    """What follows the kind in the id -> the sample."""
    samples = QUESTIONS["history"](recording, per_recording=1000)
    return {sample.id.partition(":history:")[2]: sample for sample in samples}


def watched(code: str, call: str) -> dict[str, str]:
    """The same, by a trace function that looks at each line and each end."""
    calls: Counter[str] = Counter()
    frames: dict[FrameType, int] = {}
    held: dict[tuple[str, int, str], list[str]] = {}

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != "watched":
            return None
        name = frame.f_code.co_name
        if event == "call":
            calls[name] += 1
            frames[frame] = calls[name]
        elif event in ("line", "return"):
            for variable, value in frame.f_locals.items():
                held.setdefault((name, frames[frame], variable), []).append(repr(value))
        return trace

    names: dict[str, Any] = {}
    exec(compile(code, "watched", "exec"), names)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        eval(call, names)
    except ValueError:
        pass
    finally:
        sys.settrace(before)
    texts = {place: [text for text, _ in groupby(values)] for place, values in held.items()}
    return {
        f"{name}:{k}:{variable}": f"[{', '.join(values)}]"
        for (name, k, variable), values in texts.items()
        if len(values) > 1
    }


@pytest.mark.parametrize("arguments", ["([1, 3, 4],)", "([9, 2, 40],)"])
def test_the_answers_are_what_a_trace_function_sees(record: Record, arguments: str) -> None:
    """Of each variable and each call, also of a run that an exception leaves."""
    found = answers("history", record(PICK, "f", arguments))
    assert found == watched(PICK, f"f{arguments}")
    assert len(found) > 5


def test_equal_values_on_end_are_one_and_order_counts(record: Record) -> None:
    """The values as a person reads them off, and what an answer is scored."""
    sample = asked(record(PICK, "f", "([9],)"))["halves:1:n"]
    assert ast.literal_eval(sample.answer) == [9, 4, 2, 1]
    for answer, score in (("[9, 4, 2, 1]", 1), ("[9,4,2,1]", 1), ("[1, 2, 4, 9]", 0), ("[4, 2, 1]", 0)):
        assert score_answer(sample, f"[ANSWER]{answer}[/ANSWER]").score == score
    assert score_answer(sample, completion(sample.prompt)).score == 0


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    y = 1; y = x\n    y = 3\n    return y\n",
        "def f(x):\n    y = 1\n    y = [z for z in range(x)]\n    return y\n",
        "def f(x):\n    y = 1\n    y = 2\n    del y\n    return x\n",
        "def f(x):\n    y = 1\n    y = f\n    return x\n",
        "def f(x):\n    y = x\n    return y\n",
        "def f(x):\n    y = 0\n    while y < 20:\n        y += 1\n    return y\n",
        "def g(x):\n    y = 1\n    y = 2\n    yield y\n\ndef f(x):\n    return list(g(x))\n",
    ],
    ids=["one line", "comprehension", "deleted", "no data", "one value", "many values", "generator"],
)
def test_what_is_not_asked_about(record: Record, code: str) -> None:
    """Where what a line is, or what a variable holds, cannot be said in one way."""
    assert reasons("history", record(code, "f", "(3,)")) == [
        "no variable of a function has several values that are short plain data"
    ]
