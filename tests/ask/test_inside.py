"""Test classes in the answer's own process: what an answer does to asserts and their runner is noticed."""

import random
import unittest
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.kinds.program import program_sample
from deskcheck.ask.scoring.inside import twins
from deskcheck.ask.scoring.sandbox import SandboxJudge
from deskcheck.ask.scoring.score import AnswerScore, score_answer
from deskcheck.sandbox import Confinement, Limits, Sandbox
from deskcheck.sources.sets.coding import CodingTask, names_of_tests

TESTS = """\
import unittest
from unittest import mock
from unittest.mock import patch


class Base(unittest.TestCase):
    def setUp(self):
        self.given = [3, 1, 2]


class TestCases(Base):
    def test_sorted(self):
        self.assertEqual(f(self.given), [1, 2, 3])

    @patch("time.time", return_value=7.5)
    def test_now(self, clock):
        self.assertIn(7.5, f([8, 9], now=True))
        clock.assert_called_once_with()

    def test_refuses(self):
        with self.assertRaises(ValueError):
            f([])

    def test_own_class(self):
        if not hasattr(f([1]), "total"):
            self.fail("no total")
            return
        self.assertTrue(f([1, 2]).total() == 3)
        self.assertAlmostEqual(f([0.1, 0.2]).total(), 0.3)


class TestMore:
    def test_plain(self):
        assert f([2, 1])[0] == 1


if __name__ == "__main__":
    unittest.main()
"""
RIGHT = """\
import time
class Sorted(list):
    def total(self):
        return sum(self)
def f(items, now=False):
    if not items:
        raise ValueError("nothing")
    return Sorted(sorted([*items, time.time()] if now else items))
"""
TASK = CodingTask(id="sort", prompt="Sort.", entry_point="f", unittest=TESTS, reference=RIGHT)
SAMPLE = program_sample(TASK)


class Quick(SandboxJudge):
    """Within limits that a test can wait for."""

    limits = Limits(cpu_s=1, wall_s=20, memory_bytes=1 << 29, output_bytes=1 << 16)


@pytest.fixture(scope="module")
def judge() -> Iterator[Quick]:
    with Sandbox(Confinement.STRICT, workers=1) as sandbox:
        yield Quick(sandbox)


def scored(code: str, judge: Quick, task: CodingTask = TASK) -> AnswerScore:
    return score_answer(program_sample(task), f"{OPEN}{code}{CLOSE}", judge=judge)


WRONG = "def f(items, now=False):\n    return [0]\n"
ATTACKS = {
    "wrong": WRONG,
    "exit": "import os\ndef f(*a, **k): os._exit(0)",
    "exit at once": "import os\ndef f(): pass\nos._exit(0)",
    "SystemExit": "def f(*a, **k): raise SystemExit(0)",
    "at exit": f"import atexit, os\natexit.register(os._exit, 0)\n{WRONG}",
    "no asserts": (
        "import unittest\n"
        "for name in dir(unittest.TestCase):\n"
        "    if name.startswith('assert') or name == 'fail':\n"
        "        setattr(unittest.TestCase, name, lambda *a, **k: __import__('contextlib').nullcontext())\n"
        f"{WRONG}"
    ),
    "no asserts but fail": (
        "import unittest\n"
        "class Anything(list):\n"
        "    def __getattr__(self, name): return lambda *a: Anything([1])\n"
        "for name in dir(unittest.TestCase):\n"
        "    if name.startswith('assert'):\n"
        "        setattr(unittest.TestCase, name, lambda *a, **k: __import__('contextlib').nullcontext())\n"
        "unittest.mock = __import__('unittest.mock').mock\n"
        "unittest.mock.NonCallableMock.assert_called_once_with = lambda *a, **k: None\n"
        "def f(items, now=False): return Anything([1])"
    ),
    "one assert": (
        "import unittest\n"
        "unittest.TestCase.assertEqual = lambda *a: None\n"
        f"{RIGHT.replace('sorted([*items', 'list([*items').replace('else items', 'else sorted(items) if len(items) < 3 else items')}"
    ),
    "case runs nothing": f"import unittest\nunittest.TestCase.run = lambda s, r=None: (r.startTest(s), r.addSuccess(s), r)[2]\n{WRONG}",
    "calls nothing": f"import unittest\nunittest.TestCase._callTestMethod = lambda s, m: None\n{WRONG}",
    "outcome": f"import unittest.case\nunittest.case._addError = lambda *a: None\nunittest.case._Outcome.success = property(lambda s: True, lambda s, v: None)\n{WRONG}",
    "stop": "import unittest.case\ndef f(*a, **k): raise unittest.case._ShouldStop",
    "skip": "import unittest\ndef f(*a, **k): raise unittest.SkipTest('no')",
    "another unittest": (
        "import sys, types\n"
        "class TestCase:\n"
        "    def __getattr__(self, name): return lambda *a, **k: None\n"
        "    def id(self): return 'answer.TestCases.test_sorted'\n"
        "fake = types.ModuleType('unittest')\n"
        "fake.TestCase, fake.TestResult, fake.main = TestCase, object, lambda: None\n"
        "fake.mock = types.ModuleType('unittest.mock')\n"
        "fake.mock.patch = lambda *a, **k: lambda f: f\n"
        "class Loader:\n"
        "    def loadTestsFromTestCase(self, kind):\n"
        "        class Suite:\n"
        "            def run(self, result):\n"
        "                for name in dir(kind):\n"
        "                    if name.startswith('test'):\n"
        "                        result.addSuccess(type('T', (), {'id': lambda s, n=name: f'answer.{kind.__name__}.{n}'})())\n"
        "        return Suite()\n"
        "fake.defaultTestLoader = Loader()\n"
        f"sys.modules['unittest'], sys.modules['unittest.mock'] = fake, fake.mock\n{WRONG}"
    ),
    "builtins": (
        "import builtins\n"
        "builtins.AssertionError = builtins.ValueError = type('Never', (BaseException,), {})\n"
        f"builtins.isinstance = builtins.issubclass = lambda *a: True\n{WRONG}"
    ),
    "no exec": f"import builtins\nbuiltins.exec = builtins.compile = lambda *a, **k: None\n{WRONG}",
    "patches at the call": (
        "import sys\n"
        "def f(*a, **k):\n"
        "    frame = sys._getframe(1)\n"
        "    test = frame.f_locals.get('self')\n"
        "    for name in dir(test):\n"
        "        if name.startswith('assert') or name == 'fail':\n"
        "            setattr(test, name, lambda *a, **k: __import__('contextlib').nullcontext())\n"
        "    class L(list):\n"
        "        def total(s): return 0\n"
        "    return L([1])"
    ),
    "jumps": (
        "import sys\n"
        "def f(*a, **k):\n"
        "    frame = sys._getframe(1)\n"
        "    lines = [n for _, _, n in frame.f_code.co_lines() if n]\n"
        "    def trace(frame, event, arg):\n"
        "        if event == 'line':\n"
        "            try: frame.f_lineno = max(lines)\n"
        "            except ValueError: pass\n"
        "        return trace\n"
        "    sys.settrace(lambda *a: None)\n"
        "    frame.f_trace = trace\n"
        "    return [1]"
    ),
    "equal to everything": (
        "class E(list):\n"
        "    def __eq__(s, o): return True\n"
        "    def __contains__(s, o): return True\n"
        "    def __getattr__(s, n): return lambda *a: E()\n"
        "    __sub__ = __rsub__ = __getitem__ = __abs__ = lambda s, *a: E()\n"
        "    __round__ = lambda s, *a: 0\n"
        "def f(*a, **k): return E()"
    ),
    "equal to everything, with the call": (
        "import time\n"
        "class E(list):\n"
        "    def __eq__(s, o): return True\n"
        "    def __contains__(s, o): return True\n"
        "    def __getitem__(s, n): return E()\n"
        "    def total(s): return T()\n"
        "class T(float):\n"
        "    def __eq__(s, o): return True\n"
        "def f(items, now=False):\n"
        "    if not items: raise ValueError\n"
        "    if now: time.time()\n"
        "    return E()"
    ),
    "a thread": (
        "import threading, os, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.02), os._exit(0)), daemon=True).start()\n"
        "def f(*a, **k): time.sleep(5)"
    ),
    "own words": (
        "import os, json\n"
        "for n in range(1, 20):\n"
        "    try: os.write(n, (json.dumps(['test', '']) + '\\n').encode() * 5)\n"
        "    except OSError: pass\n"
        f"{WRONG}"
    ),
    "another runner": f"{WRONG}\ndef run_test_classes(text, names):\n    return dict.fromkeys(names, '')",
    "fork": f"import os\nif os.fork(): os._exit(0)\n{WRONG}",
    "for ever": "def f(*a, **k):\n    while True: pass",
    "no end of output": "def f(*a, **k):\n    while True: print('x' * 1000)",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_scores_nothing(judge: Quick, name: str) -> None:
    """A program that does not do the task is wrong, whatever it does to the tests in its process."""
    found = scored(ATTACKS[name], judge)
    assert found.score == 0, found
    assert found.reason


def test_a_right_answer_is_right(judge: Quick) -> None:
    """With patches, mocks, objects of the answer's class; a wrong one says which test failed, and how."""
    found = scored(RIGHT, judge)
    assert (found.score, found.reason, found.metrics["tests_passed"]) == (1, "", 1)
    wrong = scored(RIGHT.replace("sum(self)", "len(self)"), judge)
    assert (wrong.score, wrong.metrics["tests_passed"]) == (0, 4 / 5)
    assert wrong.reason == "test 4 of 5: AssertionError: False is not true"
    missing = scored(f"import no_such_module_here\n{RIGHT}", judge)
    assert missing.metrics["missing_module"] == 1


def test_what_a_twin_notices() -> None:
    """In one process, by unittest itself: twins fail with the word at the end of each test, and only there."""
    names = names_of_tests(TESTS)
    word = f"{random.Random(3).getrandbits(64):x}"
    for text, expected in ((TESTS, ""), (twins(TESTS, word), word)):
        scope: dict[str, Any] = {"__name__": "answer"}
        exec(RIGHT + text, scope)
        result = unittest.TestResult()
        plain = type("TestMore", (scope["TestMore"], unittest.TestCase), {})
        for kind in (scope["TestCases"], plain):
            unittest.defaultTestLoader.loadTestsFromTestCase(kind).run(result)
        assert result.testsRun == len(names) == 5
        assert result.errors == []
        said = [text.rstrip().rpartition("AssertionError: ")[2] for _, text in result.failures]
        assert said == ([word] * 5 if expected else [])


def test_tests_that_cannot_run_are_named(judge: Quick) -> None:
    """What fails before the first test is the reason."""
    broken = TESTS.replace("class TestMore", "import no_such_module_here\nclass TestMore")
    found = scored(RIGHT, judge, replace(TASK, unittest=broken))
    said = "ModuleNotFoundError: No module named 'no_such_module_here'"
    assert found.reason == f"the tests cannot begin: {said}", found
    assert found.metrics["missing_module"] == 1
    setup = TESTS.replace("class TestCases(Base):", "class TestCases(Base):\n    def setUpClass(): 1 / 0")
    found = scored(RIGHT, judge, replace(TASK, unittest=setup))
    assert "test 1 of 5: it did not run; " in found.reason, found
    assert found.metrics["tests_passed"] == 1 / 5


def test_verdicts_of_random_tests_repeat(judge: Quick) -> None:
    """A test that draws a number draws the same one each time."""
    drawn = random.Random(0).random()
    draws = (
        f"import random\nclass T:\n    def test_draw(self):\n        assert random.random() == {drawn!r}\n"
    )
    for _ in range(2):
        assert scored(RIGHT, judge, replace(TASK, unittest=draws)).score == 1


def test_the_prompt_says_where_tests_run() -> None:
    assert "the tests run in that process, too" in SAMPLE.prompt
    beside = program_sample(replace(TASK, unittest="", tests=("assert f([1]) == [1]",)))
    assert "the tests run outside of it" in beside.prompt
