"""Sets whose tests are classes, and sets with inputs and a reference: rows in their published form."""

import json
import unittest
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recording import InputError
from deskcheck.sources.sets.coding import CodingTask, classes_with_tests
from deskcheck.sources.sets.coding_sets import read_coding_set
from tests.sources.test_coding import only


def failures(task: CodingTask, answer: str) -> list[str]:
    """Which test classes' tests fail on an answer, in one process, by unittest itself."""
    scope: dict[str, Any] = {"__name__": "answer"}
    for text in (task.setup, answer, task.unittest):
        exec(text, scope)
    result = unittest.TestResult()
    for name in classes_with_tests(task.unittest):
        kind = scope[name]
        if not issubclass(kind, unittest.TestCase):
            kind = type(name, (kind, unittest.TestCase), {})
        unittest.defaultTestLoader.loadTestsFromTestCase(kind).run(result)
    assert result.testsRun
    return [test.id().rpartition(".")[2] for test, _ in result.failures + result.errors]


BIG = {
    "task_id": "BigCodeBench/7",
    "complete_prompt": 'import math\nimport pytz\nBASE = 2\n\ndef task_func(x):\n    """Root."""\n',
    "instruct_prompt": "Give the root.",
    "canonical_solution": "    return math.sqrt(x) + 0 * BASE\n",
    "code_prompt": "import math\n",
    "test": (
        "import unittest, faker\nfrom unittest.mock import patch\nclass TestCases(unittest.TestCase):\n"
        "    def test_case_1(self):\n        self.assertEqual(task_func(9), 3)\n"
        "    @patch('math.sqrt', return_value=5)\n    def test_case_2(self, root):\n"
        "        self.assertEqual(task_func(9), 5)\n"
    ),
    "entry_point": "task_func",
    "libs": "['math', 'pytz']",
}


def test_bigcodebench(tmp_path: Path) -> None:
    """Both ways to ask; the modules that the tests alone use are named, too."""
    whole = only("bigcodebench", BIG, tmp_path)
    assert (whole.id, whole.task, whole.modules) == ("bigcodebench/7", "complete", ("faker", "pytz"))
    assert "BASE = 2" in whole.setup
    assert "def" not in whole.setup
    told = only("bigcodebench_instruct", BIG, tmp_path)
    assert (told.id, told.task, told.code) == ("bigcodebench_instruct/7", "write", "")
    plain = {key: value.replace("import pytz\n", "").replace(", faker", "") for key, value in BIG.items()}
    task = only("bigcodebench", plain, tmp_path)
    assert failures(task, task.reference or "") == []
    assert failures(task, "def task_func(x): return 3") == ["test_case_2"]


def test_a_class_to_complete(tmp_path: Path) -> None:
    row = {
        "task_id": "ClassEval_4",
        "skeleton": 'import math\nclass Circle:\n    def area(self, r):\n        """Area."""\n',
        "test": (
            "import unittest\nclass CircleTestArea(unittest.TestCase):\n    def test_area_1(self):\n"
            "        self.assertAlmostEqual(Circle().area(2), 12.566370614)\n"
            "class CircleTest(unittest.TestCase):\n    def test_circle(self):\n"
            "        self.assertEqual(Circle().area(0), 0)\n"
        ),
        "solution_code": "import math\nclass Circle:\n    def area(self, r):\n        return math.pi * r * r\n",
        "import_statement": ["import math"],
        "class_name": "Circle",
        "test_classes": ["CircleTestArea", "CircleTest"],
    }
    task = only("classeval", row, tmp_path)
    assert (task.id, task.entry_point, task.setup) == ("classeval/4", "Circle", "import math")
    assert failures(task, task.reference or "") == []
    assert sorted(failures(task, task.code)) == ["test_area_1", "test_circle"]


NATURAL = {
    "_id": 12,
    "prompt": "Task.\nThe generated code should not contain any test cases: \nclass Testtwice:\n    pass\n\n",
    "problem": "Write twice.",
    "testcases": (
        "import re\nclass Testtwice:\n    def test_one(self):\n        assert twice(2) == 4\n"
        "    def test_text(self):\n        assert twice('a') == 'aa'\n"
    ),
    "setup_code": "",
    "reference_solution": "```python\nF = '```'\ndef other(): pass\ndef twice(x):\n    return x + x\n```",
    "classification": "Software Engineering",
}


def test_what_a_user_asked_for(tmp_path: Path) -> None:
    """The reference is the text of its fence, with fences in it; pytest's fixtures are left out."""
    task = only("naturalcodebench", NATURAL, tmp_path)
    assert (task.id, task.prompt, task.entry_point) == ("naturalcodebench/12", "Write twice.", "twice")
    assert task.visible_tests == ("class Testtwice:\n    pass",)
    assert failures(task, task.reference or "") == []
    assert failures(task, "def twice(x): return 4") == ["test_text"]
    for tests in (
        "class Testtwice:\n    def test_one(self, tmp_path):\n        assert twice(2) == 4\n",
        "class Testtwice:\n    @pytest.mark.parametrize('x', [1])\n    def test_one(self):\n        twice(2)\n",
    ):
        path = tmp_path / "n.jsonl"
        path.write_text(json.dumps(NATURAL | {"testcases": tests}))
        assert list(read_coding_set("naturalcodebench", str(path), note=print)) == []


def run(task: CodingTask, answer: str) -> list[bool]:
    """Which tests pass on an answer, all in one process."""
    scope: dict[str, Any] = {"__name__": "tests"}
    exec(task.test_setup, scope)
    for text in (task.setup, answer, task.driver):
        exec(text, scope)
    passed = []
    for test in task.tests:
        try:
            exec(test, scope)
        except AssertionError:
            passed.append(False)
        else:
            passed.append(True)
    return passed


PLUS = {
    "task_id": "HumanEval/7",
    "prompt": 'def half(x):\n    """Half."""\n',
    "contract": "\n    assert x > 0\n",
    "canonical_solution": "    return x / 2\n",
    "entry_point": "half",
    "base_input": [[1], [2]],
    "plus_input": [[3], [1e300]],
    "atol": 0,
}


def test_inputs_and_a_reference(tmp_path: Path) -> None:
    """Close floats pass, as EvalPlus has it; another type or size does not."""
    task = only("humaneval_plus", PLUS, tmp_path)
    assert task.id == "humaneval_plus/7"
    assert run(task, task.reference or "") == [True] * 4
    assert run(task, "def half(x): return x / 2 + 1e-7") == [True] * 4
    assert run(task, "def half(x): return x / 2 + 1e-3") == [False, False, False, True]
    assert run(task, "def half(x): return x // 2") == [False, True, False, True]
    assert run(task, "def half(x): return [x / 2]") == [False] * 4
    lists = PLUS | {"canonical_solution": "    return [x / 2, 0.0]\n"}
    task = only("humaneval_plus", lists, tmp_path)
    assert run(task, "def half(x): return [x / 2, 1e-9]") == [True] * 4
    assert run(task, "def half(x): return (x / 2, 0.0)") == [False] * 4
    assert run(task, "def half(x): return [x / 2]") == [False] * 4
    root = PLUS | {"entry_point": "find_zero", "prompt": "def find_zero(xs):\n", "atol": 1e-4}
    root |= {"base_input": [[[-4, 0, 1]]], "plus_input": [], "canonical_solution": "    return 2.0\n"}
    task = only("humaneval_plus", root, tmp_path)
    assert run(task, "def find_zero(xs): return -2.0") == [True]
    assert run(task, "def find_zero(xs): return 0.0") == [False]


@pytest.mark.parametrize(
    ("number", "entry", "inputs", "code", "answer", "passed"),
    [
        (
            2,
            "similar_elements",
            [[[1, 2], [2, 1]]],
            "return tuple(set(a) & set(b))",
            "return [2, 1, 1]",
            True,
        ),
        (2, "similar_elements", [[[1], [2]]], "return isinstance(a, tuple) and a or b", "return b", False),
        (124, "f", [["1", "2j"]], "return (a, b)", "return (1.0, 2j)", True),
        (750, "f", [[[1], [2]]], "return b", "return (2,)", True),
        (580, "f", [[[1, [2]], [3]]], "return a", "return (1, (2,))", True),
        (434, "text_match_three", [["b", "a"]], "import re\n    return re.match(a, b)", "return None", True),
        (434, "text_match_three", [["a", "a"]], "import re\n    return re.match(a, b)", "return 'yes'", True),
        (
            434,
            "text_match_three",
            [["a", "a"]],
            "import re\n    return re.match(a, b)",
            "return False",
            False,
        ),
        (295, "sum_div", [[4, 0]], "return 3", "return 0", True),
        (558, "digit_distance_nums", [[1, 23]], "return 1", "return 4", True),
    ],
)
def test_rules_of_mbpp_plus(
    number: int, entry: str, inputs: list[Any], code: str, answer: str, passed: bool, tmp_path: Path
) -> None:
    """What JSON cannot say of inputs, and the rules of some tasks."""
    head = f"def {entry}(a, b):\n    "
    row = {
        "task_id": f"Mbpp/{number}",
        "prompt": '"""\nWrite a function.\nassert True\n"""\n',
        "canonical_solution": f"\n{head}{code}\n",
        "entry_point": entry,
        "base_input": inputs,
        "plus_input": [],
        "atol": 0,
    }
    task = only("mbpp_plus", row, tmp_path)
    assert task.prompt == "Write a function.\nassert True"
    assert run(task, task.reference or "") == [True]
    assert run(task, head + answer) == [passed]


def test_multipl_e(tmp_path: Path) -> None:
    row = {
        "name": "HumanEval_7_half",
        "language": "py",
        "prompt": 'from typing import List\n\ndef half(x: List[int]) -> float:\n    """Half."""\n',
        "doctests": "transform",
        "tests": (
            "def check(candidate):\n    assert candidate([4]) == 2\n    assert candidate([3]) == 1.5\n\n"
            "def test_check():\n    check(half)\n\ntest_check()\n"
        ),
        "stop_tokens": ["\ndef"],
    }
    task = only("multipl_e", row, tmp_path)
    assert (task.id, task.entry_point, len(task.tests)) == ("multipl_e/HumanEval_7_half", "half", 2)
    assert run(task, "def half(x): return x[0] / 2") == [True, True]
    assert run(task, "def half(x): return x[0] // 2") == [True, False]
    with pytest.raises(InputError, match="'language' is 'rb': answers are run in Python"):
        only("multipl_e", row | {"language": "rb"}, tmp_path)


@pytest.mark.parametrize(
    ("name", "row", "said"),
    [
        ("bigcodebench", BIG | {"test": "x = 1"}, "the tests have no class with a method"),
        ("bigcodebench", BIG | {"test": "class T(: pass"}, "has no valid Python where BigCodeBench has it"),
        ("classeval", {"task_id": "ClassEval_4"}, "the row lacks 'skeleton'"),
        (
            "naturalcodebench",
            NATURAL | {"reference_solution": "x = 1"},
            "'testcases' does not use any name that",
        ),
        ("humaneval_plus", PLUS | {"atol": None}, "'atol' must be a number"),
        ("humaneval_plus", PLUS | {"base_input": [1]}, "must be lists of lists of arguments"),
        ("mbpp_plus", PLUS | {"task_id": "x"}, "which has no number at its end"),
        ("humaneval_plus", {"task_id": "HumanEval/0", "test": ""}, "the row lacks 'prompt'"),
    ],
)
def test_rows_of_other_sets_are_refused(name: str, row: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        only(name, row, tmp_path)


PROBLEM = {
    "id": "pair",
    "category": "own",
    "source": "",
    "description": "Find two numbers (x) and their sum (total), which is to be as large as it can be.",
    "model_cpmpy": (
        '"""Find two numbers."""\n# Data\nmost = 4\n# End of data\nfrom cpmpy import *\nimport json\n'
        'x = intvar(0, most, shape=2, name="x")\nmodel = Model(x[0] < x[1])\nmodel.maximize(sum(x))\n'
        'model.solve()\nprint(json.dumps({"x": x.value().tolist(), "total": int(sum(x).value())}))\n'
    ),
    "instances": [],
}


def test_a_constraint_problem_shows_its_data_alone(tmp_path: Path) -> None:
    task = only("cp_bench", PROBLEM, tmp_path)
    assert "most = 4" in task.prompt
    assert "intvar" not in task.prompt
    assert task.reference == PROBLEM["model_cpmpy"]
    assert task.modules == ("cpmpy", "numpy")


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ('{"x": [3, 4], "total": 7}', None),
        ('{"x": [2, 4], "total": 6}', "not the best solution"),
        ('{"x": [4, 4], "total": 8}', "no solution"),
        ('{"x": [3, 4], "total": 6}', "no solution"),
        ('{"x": [3], "total": 7}', "the answer.x: another number of items"),
        ('{"y": [3, 4], "total": 7}', "the answer: other names"),
        ('{"x": [3, "4"], "total": 7}', r"the answer.x\[1\]: no number"),
        ('{"x": [3, 4.5], "total": 7}', r"the answer.x\[1\]: no whole number"),
    ],
)
def test_a_solution_is_judged_by_the_model(printed: str, said: str | None, tmp_path: Path) -> None:
    """Any solution that is as good as the best is right, whatever the reference prints."""
    pytest.importorskip("cpmpy", reason="judges solutions by CPMpy and its solver")
    checker = only("cp_bench", PROBLEM, tmp_path).checker
    if said is None:
        exec(checker, {"printed": printed})
    else:
        with pytest.raises(AssertionError, match=said):
            exec(checker, {"printed": printed})
