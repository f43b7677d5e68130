"""Test classes in the answer's own process: what an answer does to asserts and their runner is noticed."""

import random
import unittest
from dataclasses import replace
from typing import Any

import pytest

from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.kinds.program import program_sample
from deskcheck.ask.scoring.inside import twins
from deskcheck.ask.scoring.score import AnswerScore, score_answer
from deskcheck.sources.sets.coding import CodingTask, names_of_tests
from tests.ask.conftest import Quick, table

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


def scored(code: str, judge: Quick, task: CodingTask = TASK) -> AnswerScore:
    return score_answer(program_sample(task), f"{OPEN}{code}{CLOSE}", judge=judge)


ATTACKS = table("attacks/inside")


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
