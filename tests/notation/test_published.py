"""The notation `cwm` is the form that Code World Model's authors published: a writer of thirty lines that uses
nothing of deskcheck's writes the same text, and their debugger's way of reading it finds the same values."""

import io
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from deskcheck.notation import cwm_prompt, cwm_text, moments, parse_cwm
from tests.tracer.conftest import FILE, run_traced

PROGRAMS = {
    "calls": """def count(s, letter):
    n = 0
    for c in s:
        n += int(c == letter)
    return n

def f(c):
    word = "strawberry"
    num = count(word, c)
    found = [word, num, num > 2]
    return found, {"c": c}
f("r")
""",
    "exceptions": """def g(x):
    return 10 // x

def f(items):
    b = a = []
    for x in items:
        try:
            a.append(g(x))
        except ZeroDivisionError:
            b = b + [None]
    rows = [a] * 2
    return rows
f([5, 0, 2])
""",
    "shared": """def f(n, *rest, key=None, **more):
    z, a = [n], (rest, key)
    both = [z, z, {"z": z}]
    z.append("a \\"quoted\\" '..' text\\n")
    del a
    a = {n: both, "..": ".."}
    return more or a
f(2, 3, key=None)
""",
    "closure": """def f(n):
    total = 0
    def add(k):
        nonlocal total
        m = k + n
        total += m
        return total
    second, first = add(1), add(2)
    while first > second:
        first -= 2
    return first, second
f(3)
""",
}
FUNCTION = re.compile(r"<function ((?:[\w.]|<\w+>)+)[^>]*>")
"""Ours tells what a function holds, and no address."""
CRUXEVAL = Path(os.environ.get("DESKCHECK_SHARED", Path(__file__).parents[3] / "shared")) / "data/cruxeval"


def published(code: str, run: str) -> str:
    """The frames of what `run` evaluates, made by a trace function and `repr`."""
    lines, parts, told = code.split("\n"), [], dict[str, str]()

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal told
        if frame.f_code.co_filename != "<plain>":
            return None
        source = lines[frame.f_lineno - 1]
        if event in ("call", "line"):
            now = {name: repr(value) for name, value in frame.f_locals.items()}
            before = {} if event == "call" else told
            shown = {name: ".." if before.get(name) == text else text for name, text in now.items()}
            told = now
            parts.append(f"<|{event}_sep|>{json.dumps(shown)}<|action_sep|>{source}<|frame_sep|>")
        else:
            if event == "exception":
                arg = arg[1]
            else:
                told = {}
            parts.append(
                f"<|{event}_sep|><|action_sep|>{source}<|arg_sep|>{json.dumps(repr(arg))}<|frame_sep|>"
            )
        return trace

    names: dict[str, Any] = {}
    exec(compile(code, "<plain>", "exec"), names)
    called = compile(run, "<call>", "eval")
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        eval(called, names)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, AssertionError):
        pass  # it is in the frames
    finally:
        sys.settrace(before)
    return "".join(parts)


def values(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Of each frame the event and the variables, as their debugger finds them: ``..`` is looked for in the
    frames before, as far as the last call or return."""
    frames = []
    for event, shown in re.findall(r"<\|(\w+)_sep\|>([^<]*(?:<(?!\|)[^<]*)*)<\|action_sep\|>", text):
        frames.append((event, json.loads(shown or "{}")))
    for at, (event, shown) in enumerate(frames):
        found = dict(shown)
        for name in (name for name, text in shown.items() if text == ".."):
            for before, names in reversed(frames[:at]):
                if names.get(name, "..") != "..":
                    found[name] = names[name]
                    break
                assert before not in ("call", "return"), f"{name} is said to be as before a call or a return"
        yield event, found


def ours(code: str) -> tuple[str, list[Any]]:
    states = [s for s in moments(run_traced(code).trace, file=FILE) if s.running.function != "<module>"]
    return cwm_text(states, code), states


@pytest.mark.parametrize("name", PROGRAMS)
def test_another_writer_writes_the_same(name: str) -> None:
    """Byte for byte: the marks, the JSON, the order of variables, what is the same as before, the lines."""
    if sys.version_info >= (3, 13) and name in ("shared", "closure"):
        pytest.skip(
            "f_locals has the order of the code from 3.13 on: would have proved the order of variables"
        )
    code = PROGRAMS[name]
    *_, run = code.strip().split("\n")
    defined = code.strip().removesuffix(run)
    text, states = ours(code)
    assert FUNCTION.sub(r"<\1>", text) == FUNCTION.sub(r"<\1>", published(defined, run))
    told = parse_cwm(text, code)
    assert [state.running.line for state in told.moments] == [state.running.line for state in states]
    assert "\n" not in text


@pytest.mark.parametrize("name", PROGRAMS)
def test_their_way_of_reading_finds_the_values(name: str) -> None:
    """What stands for a value of before is found by their rule, and is what our reader finds."""
    text, states = ours(PROGRAMS[name])
    found = list(values(text))
    assert len(found) == len(states)
    for (event, names), moment in zip(found, parse_cwm(text, PROGRAMS[name]).moments, strict=True):
        assert (event in ("call", "line")) == (moment.kind in ("call", "line"))
        assert list(names) == list(moment.running.locals)
        assert ".." not in names.values()


def test_the_whole_of_a_published_sequence_is_read() -> None:
    """With the source before it, the mark in it, and the end."""
    code = PROGRAMS["calls"]
    text, states = ours(code)
    whole = f"{cwm_prompt(code, 7)}{text}<|end_of_text|>"
    assert whole.startswith("<|trace_context_start|>def count(s, letter):\n")
    assert "def f(c):  # << START_OF_TRACE\n" in whole
    told = parse_cwm(
        whole.replace("<|action_sep|>def f(c):", "<|action_sep|>def f(c):  # << START_OF_TRACE\n"), code
    )
    assert told.unreadable == ()
    assert [state.running.line for state in told.moments] == [state.running.line for state in states]


@pytest.mark.slow
@pytest.mark.skipif(
    not CRUXEVAL.is_dir(), reason="no CRUXEval here: would have proved it of published functions"
)
def test_functions_of_cruxeval() -> None:
    """Of every tenth, where each value is one that `repr` tells whole."""
    rows = [json.loads(line) for line in next(CRUXEVAL.glob("*.jsonl")).read_text().splitlines()]
    compared = 0
    for row in rows[::10]:
        run = f"f({row['input']})"
        with redirect_stdout(io.StringIO()):
            wanted = published(row["code"], run)
        if " at 0x" in wanted or "Iterator" in wanted or len(wanted) > 50_000:
            continue
        text, _ = ours(f"{row['code'].rstrip()}\n{run}\n")
        assert text == wanted, row["id"]
        compared += 1
    assert compared > 40
