"""A tracer that is started at a frame that has just begun: how calls are recorded while a test suite runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tracer.process import needs_native, printed

MODULE = """
import functools
import threading

total = 0


def one_line(x): return x + 1


def words(given, mark="!"):
    out = [word.upper() + mark for word in given if word]
    for n, word in enumerate(out):
        print(n, word)
    return {word: len(word) for word in out}


def closes_over(n):
    count = [n]

    def again(step=1):
        nonlocal n
        n += step
        count.append(n)
        return n

    return again() + again(step=2) + sum(x + n for x in count)


def handles(a, b):
    global total
    try:
        result = a // b
    except ZeroDivisionError as error:
        total += 1
        result = str(error)
    finally:
        total += 1
    return result


def fails(a):
    names = ["x"]
    try:
        raise KeyError(a, names)
    finally:
        names.append("y")


def exits(status):
    raise SystemExit(status)


def calls_back(numbers):
    return sorted(numbers, key=lambda n: -n), functools.reduce(lambda a, b: [a, b], numbers)


def counts(n):
    yield from range(n)


def draws(n):
    found = []
    for x in counts(n):
        found.append(x)
    return found, one_line(n)


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def with_a_thread(n):
    found = []
    thread = threading.Thread(target=found.append, args=(n,))
    thread.start(); thread.join()  # in one line: which runs first there is luck
    return found


class Stack:
    def __init__(self, items=()):
        self.items = list(items)
        self.below = self

    def push(self, item):
        self.items.append(item)
        return self

    @property
    def top(self):
        return self.items[-1]

"""

CALLS = """
from own import *


def all_of_them():
    one_line(1)
    words(["a", "", "bc"])
    closes_over(3)
    handles(4, 2)
    handles(1, 0)
    for call in (lambda: fails(5), lambda: exits(3)):
        try:
            call()
        except (KeyError, SystemExit):
            pass
    calls_back([2, 3, 1])
    draws(3)
    factorial(4)
    with_a_thread(7)
    assert Stack([1]).push(2).top == 2
"""

CHILD = """
import json, sys
from deskcheck.recording import block
from deskcheck.sandbox.inside import calls as _calls
from deskcheck.tracer import ReferenceTracer, TraceLimits, tracer_class

folder, name = sys.argv[1:]
kind = ReferenceTracer if name == "reference" else tracer_class()
assert kind.name == name
_calls.tracer_class = lambda: kind
sys.path.insert(0, folder)
import calls

recorded = []

def send(kind, facts, blocks):
    if kind == "call":
        recorded.append([facts, [row for each in blocks for row in block.rows(each)]])

project, drawing = _calls.Project(folder, (), ["calls.py"]), _calls.Drawing(per_function=100, budget=1000, seed=0)
observer = _calls.Observer(project, send, drawing, limits=TraceLimits())
real = sys.stdout
class Told:
    def write(self, text):
        observer.wrote(text)
sys.stdout = Told()
observer.begin("test")
for n in range(2):  # what the first recording leaves behind must not change the second
    calls.all_of_them()
    calls.one_line(n + 10)
observer.end()
sys.stdout = real
assert sys.gettrace() is None
print(json.dumps({"calls": recorded, "left out": observer.left_out}))
"""


def recorded(folder: Path, tracer: str) -> dict[str, Any]:
    """All calls that were recorded, in a process of its own."""
    found: dict[str, Any] = json.loads(printed(CHILD, folder, tracer))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    (folder / "own.py").write_text(MODULE)
    (folder / "calls.py").write_text(CALLS)
    return folder


def test_the_frame_is_recorded_from_its_beginning_to_its_end(folder: Path) -> None:
    """`call` first, the frame's end last, what was raised and returned told, under the reference."""
    calls = {
        facts["function"] + facts["arguments"]: (facts, rows)
        for facts, rows in recorded(folder, "reference")["calls"]
    }
    for facts, rows in calls.values():
        assert (rows[0][2], rows[0][3], rows[-1][3]) == ("call", 0, 0)
        assert rows[-1][2] == ("unwind" if "exception" in facts else "return")
    assert calls["fails(5)"][0]["exception"] == "KeyError"
    assert calls["exits(3)"][0]["outcome"] == "exited"
    assert calls["factorial(4)"][0]["result"] == "24"
    assert calls["words(['a', '', 'bc'])"][0]["stdout"] == "0 A!\n1 BC!\n"


@needs_native
def test_both_tracers_record_the_same_calls_alike(folder: Path) -> None:
    """Event for event, with the numbers of objects; outcome, result, output; what was left out."""
    one, two = recorded(folder, "reference"), recorded(folder, "native")
    assert len(one["calls"]) > 12
    assert one == two
