"""The kind `changes`, and `output` of calls with objects: what the prompt shows of them is all that decides."""

import copy
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from deskcheck.ask import QUESTIONS, Sample, score_answer
from deskcheck.ask.answers.values import read_value
from deskcheck.ask.baselines import guess
from deskcheck.ask.questions.alike import AMBIGUOUS
from deskcheck.ask.questions.generate import of_each
from deskcheck.ask.questions.settings import Sampling
from deskcheck.recording import Recording
from tests.ask.conftest import Record, reasons

STACK = """\
class Stack:
    def __init__(self):
        self.items = []
        self.size = 0
        self.top = None

    def push(self, *xs):
        for x in xs:
            self.items.append(x)
            self.size += 1
        self.top = xs[-1] if xs else self.top
        return self.size

def fill(stack, rows, n):
    rows.append(n)
    return stack.push(*rows)

def make(n):
    stack = Stack()
    stack.push(0)
    return stack

def again(xs):
    xs = xs + [1]
    return xs

def drop(stack):
    del stack.top

def odd(stack):
    stack.items.append(Stack())

S = make(1)
"""


def asked(recording: Recording, kind: str = "changes") -> list[Sample]:
    return list(QUESTIONS[kind](recording))


def reason(recording: Recording, kind: str = "changes") -> str:
    (why,) = reasons(kind, recording)
    return why


@pytest.mark.parametrize(
    ("entry", "arguments", "answer"),
    [
        ("fill", "(S, [5, 6], 7)", "{'rows': [5, 6, 7], 'stack.items': [0, 5, 6, 7], 'stack.size': 4, 'stack.top': 7}"),
        ("Stack.push", "(S, 9)", "{'self.items': [0, 9], 'self.size': 2, 'self.top': 9}"),
        ("Stack.push", "(S, 0)", "{'self.items': [0, 0], 'self.size': 2}"),
        ("Stack.__init__", "(Stack.__new__(Stack),)", "{'self.items': [], 'self.size': 0, 'self.top': None}"),
    ],
)  # fmt: skip
def test_what_a_call_changes(entry: str, arguments: str, answer: str, record: Record) -> None:
    (sample,) = asked(record(STACK, entry, arguments))
    assert sample.answer == answer
    for right in (answer, str(dict(reversed(eval(answer).items()))), answer.replace("'", '"')):
        assert score_answer(sample, f"[ANSWER]{right}[/ANSWER]").score == 1, "the order does not count"
    for wrong in (
        "{}",
        answer.replace("self.", "").replace("stack.", ""),
        answer.replace("0", "8"),
        "nothing",
    ):
        if wrong != answer:
            assert score_answer(sample, f"[ANSWER]{wrong}[/ANSWER]").score == 0, wrong
    assert score_answer(sample, guess.completion(sample.prompt)).readable


@pytest.mark.parametrize(
    ("entry", "arguments", "why"),
    [
        ("Stack.push", "(S,)", "it does not change its arguments"),
        ("make", "(1,)", "it does not change its arguments"),
        ("again", "([1],)", "a parameter is rebound"),
        ("drop", "(S,)", "an attribute is deleted"),
        ("odd", "(S,)", "its change is not plain data"),
    ],
)
def test_what_is_not_asked(entry: str, arguments: str, why: str, record: Record) -> None:
    assert reason(record(STACK, entry, arguments)) == why


@pytest.mark.parametrize(
    "base", ["list", "dict", "set", "tuple", "collections.OrderedDict", "collections.deque"]
)
def test_objects_that_extend_a_container(base: str, record: Record) -> None:
    """What they hold is compared, whatever its form; their attributes are asked for."""
    code = f"""\
import collections

class Kept({base}):
    pass

def note(kept, n):
    kept.n = n

def grow(kept, n):
    {"kept[n] = 1" if base in ("dict", "collections.OrderedDict") else "kept.add(n)" if base == "set" else "kept.append(n)"}

K = Kept({"{1: 2}" if "ict" in base else "[1, 2]"})
"""
    (sample,) = asked(record(code, "note", "(K, 5)"))
    assert sample.answer == "{'kept.n': 5}"
    if base != "tuple":
        assert reason(record(code, "grow", "(K, 5)")) == "its change is not plain data"


def test_it_is_what_the_objects_say_themselves(cruxeval: list[Recording]) -> None:
    """Calls of CRUXEval that change their lists and dictionaries, made once more on copies, without a tracer."""
    compared = 0
    for recording in cruxeval:
        names: dict[str, Any] = {}
        exec(compile(recording.program.code, "again", "exec", dont_inherit=True), names)
        given = eval(f"(lambda *args: args){recording.program.arguments}")
        before, parameters = copy.deepcopy(given), names["f"].__code__.co_varnames
        names["f"](*given)
        changed = {
            parameters[place]: value
            for place, value in enumerate(given)
            if repr(value) != repr(before[place])
        }
        for sample in asked(recording):
            assert read_value(sample.answer) == (True, changed), recording.id
            compared += 1
        if not asked(recording):
            assert not changed or reason(recording) == "a parameter is rebound"
    assert compared > 2


def test_calls_with_objects_are_asked_for_what_they_return(record: Record) -> None:
    """Where all of the objects is shown. How they are written is said."""
    shown = record(STACK, "fill", "(S, [5], 7)", extra={"arguments": "shown"})
    (sample,) = asked(shown, "output")
    assert sample.answer == "3"
    assert "Objects are written Class#number(attribute=value, ...)" in sample.prompt
    part = record(STACK, "fill", "(S, [5], 7)", extra={"arguments": "in part"})
    assert reason(part, "output") == "the arguments are objects"
    assert reason(part) == "the arguments are objects"
    plain = record(STACK, "again", "([5],)", extra={"arguments": "literal"})
    assert "Objects are written" not in asked(plain, "output")[0].prompt


def test_calls_that_read_alike_and_differ_are_left_out(record: Record) -> None:
    """Something decides that the prompt does not show: neither is asked. Answers to `input` may be many."""
    code = "class C:\n    def get(self, n, kept=[{}]):\n        return n + len(kept)\n"

    def called(id_: str, filled: str, arguments: str = "(C#1(), 2)") -> Recording:
        found = record(
            code.format(filled), "C.get", "(C(), 2)", id=id_, extra={"arguments": "shown", "own": ["m"]}
        )
        return replaced(found, code.format(""), arguments)

    runs = [called("a", ""), called("b", "1"), called("c", "", "(C#1(), 3)")]
    excluded = {"output": Counter[str]()}
    asked_of = of_each(
        runs, ["output"], sampling=Sampling(), excluded=excluded, beside=lambda recording: (None, None)
    )
    found = [sample for _, samples, _ in asked_of for sample in samples]
    assert [sample.program for sample in found] == ["c"]
    assert excluded["output"][AMBIGUOUS] >= 1
    assert excluded["output"].total() == 2


def replaced(recording: Recording, code: str, arguments: str) -> Recording:
    """The recording as that of a program with another text."""
    return replace(recording, program=replace(recording.program, code=code, arguments=arguments))
