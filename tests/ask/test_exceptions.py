"""Questions about runs that an exception left: which, and where; and what the other kinds ask of them."""

import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskcheck.ask import QUESTIONS, score_answer
from deskcheck.ask.answers.parsing import exception_in
from deskcheck.ask.baselines import guess
from deskcheck.ask.kinds.exceptions import NO_MESSAGE
from deskcheck.recording import Mode, Outcome, Program, Recording
from deskcheck.recording.raised import message_of, raised_message
from deskcheck.sandbox import Confinement, Sandbox
from tests.ask.conftest import Record, ask

RAISING = {
    "plain": "def f(x):\n    y = x + 1\n    return int('no')\n",
    "raised": "def f(x):\n    if x:\n        raise KeyError(x)\n",
    "deep": "def g(x):\n    return 1 // x\n\ndef f(x):\n    return [g(x - i) for i in range(3)]\n",
    "reraised": "def g():\n    try:\n        return {}['a']\n    except KeyError:\n        raise\n\ndef f(x):\n    g()\n",
    "from": (
        "def f(x):\n    try:\n        [][x]\n    except IndexError as e:\n"
        "        raise ValueError('none', x) from e\n"
    ),
    "finally": "def f(x):\n    try:\n        return x.no\n    finally:\n        x = 2\n        x += 1\n",
    "replaced": "def f(x):\n    try:\n        raise KeyError\n    finally:\n        x.no\n",
    "kept": (
        "def g():\n    raise OSError('kept')\n\ndef f(x):\n    kept = None\n    try:\n        g()\n"
        "    except OSError as error:\n        kept = error\n    x = 1\n    raise kept\n"
    ),
    "in a library": (
        "import functools\n\ndef g(a, b):\n    return a / b\n\ndef f(x):\n    return functools.reduce(g, [1, 0])\n"
    ),
    "by a library": "import json\n\ndef f(x):\n    return json.loads(\n        '{'\n    )\n",
    "own class": "class Odd(Exception):\n    pass\n\ndef f(x):\n    raise Odd(f'{x} is\\n odd')\n",
    "generator": "def g():\n    yield 1\n    assert False, 'two'\n\ndef f(x):\n    return sum(g())\n",
    "thrown in": (
        "def g():\n    yield 1\n    yield 2\n\ndef f(x):\n    i = g()\n    next(i)\n    i.throw(ZeroDivisionError('in'))\n"
    ),
    "thrown through": (
        "def k():\n    yield 1\n\ndef h():\n    yield from k()\n\ndef g():\n    yield from h()\n\n"
        "def f(x):\n    i = g()\n    next(i)\n    i.throw(ZeroDivisionError('in'))\n"
    ),
    "replaced on its way": (
        "def h():\n    yield 1\n\ndef g():\n    try:\n        yield from h()\n"
        "    except ZeroDivisionError:\n        raise ZeroDivisionError('other') from None\n\n"
        "def f(x):\n    i = g()\n    next(i)\n    i.throw(ZeroDivisionError('in'))\n"
    ),
    "stop": "def g():\n    yield next(iter([]))\n\ndef f(x):\n    return list(g())\n",
    "context": (
        "class C:\n    def __enter__(self):\n        return self\n    def __exit__(self, *a):\n"
        "        raise LookupError('at exit')\n\ndef f(x):\n    with C():\n        x / 0\n"
    ),
    "comparison": "class C:\n    def __eq__(self, other):\n        return other.x\n\ndef f(x):\n    return [C()] == [x]\n",
    "several lines": "def f(x):\n    y = [\n        1,\n        x / 0,\n    ]\n    return y\n",
    "loop": "def f(x):\n    for i in [3, 2, 1, 0]:\n        x = 6 // i\n",
    "unpacking": "def f(x):\n    a, b = [x] * 3\n",
    "group": "def f(x):\n    raise ExceptionGroup('both', [ValueError(1), KeyError(2)])\n",
    "own text": (
        "class Short(Exception):\n    def __str__(self):\n        return f'need: {self.args[0]}\\nnot less'\n\n"
        "def f(x):\n    raise Short(x)\n"
    ),
    "parts with own text": (
        "class C:\n    def __repr__(self):\n        return '<C: c>'\n\ndef f(x):\n    raise KeyError(C())\n"
    ),
    "own text of a local class": (
        "def f(x):\n    class Odd(KeyError):\n        def __str__(self):\n            return ''\n"
        "    try:\n        {}[x]\n    except KeyError as error:\n        raise Odd(x) from error\n"
    ),
    "unbound": "def f(x):\n    if not x:\n        y = 1\n    return y\n",
    "async": (
        "import asyncio\n\nasync def g():\n    await asyncio.sleep(0)\n    return {}[1]\n\n"
        "def f(x):\n    return asyncio.run(g())\n"
    ),
}


def truth(code: str, path: Path) -> tuple[int, str, str]:
    """Line, class and message as Python's own traceback has them: of its lines in this file the last."""
    path.write_text(code)
    names: dict[str, Any] = {"__name__": "somewhere"}
    exec(compile(code, str(path), "exec"), names)
    try:
        names["f"](1)
    except Exception as error:  # noqa: BLE001  # whatever it is
        found = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in found if frame.filename == str(path)]
        return int(lines[-1] or 0), type(error).__name__, str(error)
    raise AssertionError("it raises nothing")


@pytest.mark.parametrize("name", RAISING)
def test_the_answer_is_what_a_traceback_says(name: str, record: Record, tmp_path: Path) -> None:
    code = RAISING[name]
    recording = record(code, "f", "(1,)")
    assert recording.outcome is Outcome.RAISED
    (sample,) = ask("exception", recording)
    line, kind, message = truth(code, tmp_path / "program.py")
    found = exception_in(sample.answer)
    assert found is not None
    first = {"by a library": 4, "several lines": 2}.get(name, line)
    assert found[:2] == (first, kind)
    assert found[2] == " ".join(message.partition("\n")[0].split())
    assert score_answer(sample, f"[ANSWER]{sample.answer}[/ANSWER]").score == 1
    assert score_answer(sample, guess.completion(sample.prompt)).readable


def test_line_and_class_decide_and_the_message_is_told_apart(record: Record) -> None:
    (sample,) = ask("exception", record(RAISING["raised"], "f", "(1,)"))
    scores: dict[str, tuple[float, float, tuple[float, ...]]] = {
        "3: KeyError: 1": (1, 1, (1, 1, 1)),
        "3: KeyError: 2": (1, 1, (1, 1, 0)),
        "line 3: KeyError: '1'": (0, 1, (0, 0, 0)),
        "KeyError at line 3": (0, 1, (0, 0, 0)),
        "3: builtins.KeyError: 1": (0, 1, (0, 0, 0)),
        "2: KeyError: 1": (0, 0, (0, 1, 1)),
        "3: LookupError: 1": (0, 0, (1, 0, 1)),
        "KeyError: 1": (0, 0, (0, 0, 0)),
        "": (0, 0, (0, 0, 0)),
        "3: KeyError: 1\n4: KeyError: 1": (0, 1, (0, 0, 0)),
    }
    for answer, (score, lenient, parts) in scores.items():
        found = score_answer(sample, f"[ANSWER]{answer}[/ANSWER]")
        assert (found.score, tuple(found.metrics.values())) == (score, (lenient, *parts)), answer


UNKNOWN = {
    "the text fails": ("def __str__(self):\n        return 1", "raise Odd(x)"),
    "the text prints": (
        "def __str__(self):\n        print('!', file=sys.stderr); return 'odd'",
        "raise Odd(x)",
    ),
    "reported otherwise": ("args = (3,)", "sys.excepthook = lambda *_: print('gone'); raise Odd(x)"),
    "reported by its own": (
        "def __str__(self):\n        return 'odd'",
        "sys.excepthook = print; raise Odd(x)",
    ),
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Confinement.STRICT, workers=1) as place:
        yield place


@pytest.mark.parametrize("name", ["own text", "parts with own text", "own text of a local class", "group"])
def test_the_message_of_a_run_is_what_python_printed(name: str, sandbox: Sandbox, tmp_path: Path) -> None:
    """No code of the program is run for it: the report that ends the run has it."""
    run_result = sandbox.run_one(
        Program(id=name, code=RAISING[name], mode=Mode.CALL, entry="f", arguments="(1,)")
    )
    message = truth(RAISING[name], tmp_path / "program.py")[2]
    assert raised_message(run_result) == message_of(message)
    assert raised_message(replace(run_result, stderr="")) == (
        message_of(message) if name == "group" else None
    )


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_message_that_nobody_can_know_is_not_asked_for(name: str, sandbox: Sandbox, record: Record) -> None:
    """Line and class still are; the prompt says so, and any message is right."""
    body, raising = UNKNOWN[name]
    code = f"import sys\nclass Odd(Exception):\n    {body}\ndef f(x):\n    {raising}\n"
    run_result = sandbox.run_one(Program(id=name, code=code, mode=Mode.CALL, entry="f", arguments="(1,)"))
    recording = record(code.replace("sys.excepthook", "hook"), "f", "(1,)")
    (sample,) = ask("exception", replace(recording, run_result=run_result))
    if name == "reported otherwise":  # the tracer read what `str` gives
        assert sample.answer.endswith(": Odd: 1")
        return
    if name == "the text prints" and sys.version_info >= (3, 13):  # it is made before the report begins
        assert sample.answer.endswith(": Odd: odd")
        return
    assert sample.prompt.endswith(NO_MESSAGE)
    for message in ("", ": odd", ": 1"):
        found = score_answer(sample, f"[ANSWER]{sample.answer}{message}[/ANSWER]")
        assert found.metrics == {"lenient": 1, "right_line": 1, "right_class": 1, "right_message": 1}


def test_where_the_stack_ends_is_not_asked(record: Record) -> None:
    """It depends on the machine: neither which exception, nor how often a line has run by then."""
    endless = record("def f(x):\n    return f(x + 1)\n", "f", "(1,)")
    for kind in QUESTIONS.values():
        if kind.of_raised:
            excluded: Counter[str] = Counter()
            assert list(kind(endless, excluded=excluded)) == []
            assert [*excluded] == ["it reached the recursion limit, which depends on its caller"], kind.name


@pytest.mark.parametrize("kind", ["state", "next_line", "path"])
def test_other_kinds_ask_about_such_runs_too(kind: str, record: Record) -> None:
    """Up to the exception; the oracle's answers are right."""
    recording = record(RAISING["loop"], "f", "(1,)")
    samples = ask(kind, recording)
    assert samples
    for sample in samples:
        assert score_answer(sample, f"[ANSWER]{sample.answer}[/ANSWER]").score == 1
    if kind == "path":
        assert samples[0].answer == "[2, 3, 2, 3, 2, 3, 2, 3]"
    assert ask("output", recording) == ask("input", recording) == []


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("def f(x):\n    return x\n", "(1,)"),
        ("def f(x):\n    return f(x + 1)\n", "(1,)"),
    ],
    ids=["returns", "too deep"],
)
def test_what_is_not_asked(code: str, arguments: str, record: Record) -> None:
    assert ask("exception", record(code, "f", arguments)) == []


@given(st.text())
def test_any_answer_is_read_or_not(answer: str) -> None:
    found = exception_in(answer)
    assert found is None or found[0] >= 0


def test_by_all_models(record: Callable[..., Recording], tmp_path: Path) -> None:
    """Through `ask`: the oracle scores 1, its parts too; the table of samples has the parts."""
    pytest.importorskip("inspect_ai", reason="would have proved that questions about exceptions can be asked")
    import pyarrow.parquet as pq

    from deskcheck.ask import ask

    recordings = [record(RAISING[name], "f", "(1,)", id=name) for name in ("raised", "loop", "deep")]
    right, other = ask(
        recordings, ["exception"], ["deskcheck/oracle", "deskcheck/guess"], out=tmp_path / "run"
    )
    assert right.score == 1
    assert {name: found.value for name, found in right.metrics.items()} == {
        "lenient": 1,
        "right_line": 1,
        "right_class": 1,
        "right_message": 1,
    }
    assert other.score is not None
    assert other.score < 1
    rows = pq.read_table(tmp_path / "run" / "samples.parquet").to_pylist()
    assert {row["right_line"] for row in rows if row["model"] == "deskcheck/oracle"} == {1.0}
