"""Tasks whose answer is a program: rows of one's own, and rows of published sets in their own formats."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recording import InputError
from deskcheck.sources.sets.coding import CodingTask, read_coding_tasks
from deskcheck.sources.sets.coding_sets import read_coding_set

ROW: dict[str, Any] = {"id": "a", "prompt": "Do.", "entry_point": "f", "tests": ["assert f() == 1"]}


def written(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"id": 3}, "'id' is a whole number, not a string"),
        ({"prompt": " "}, "'id' and 'prompt' must not be empty"),
        ({"tests": None}, "'tests', 'cases', 'unittest', 'checker': the row has none."),
        ({"tests": "assert f() == 1"}, "'tests' is a string, not a list"),
        ({"tests": ["assert f() == 1", 2]}, "'tests[1]' is a whole number, not a string"),
        ({"tests": ["assert f( == 1"]}, "'tests[0]' is not Python in its line 1"),
        ({"driver": "\n\nx = ="}, "'driver' is not Python in its line 3"),
        ({"entry_point": None}, "'entry_point' is missing"),
        ({"entry_point": "a.b"}, "'entry_point' is 'a.b', not a Python name"),
        ({"task": "fix"}, "'task' is 'fix'. It must be one of write, complete, repair, edit"),
        ({"task": "repair"}, "'code' is missing: give the program to repair"),
        ({"test": "assert f() == 1"}, "'test' is not a field of such a row"),
        ({"cases": [{"stdin": "", "stdout": ""}]}, "the row has tests and cases, but only one is allowed"),
        ({"cases": [{"stdin": ""}], "tests": None}, "'cases[0]' must have stdin and stdout"),
        ({"cases": [{"stdin": 1, "stdout": ""}], "tests": None}, "'cases[0].stdin' is a whole number"),
        ({"cases": [{"stdin": "", "stdout": ""}], "tests": None}, "a script has no entry_point"),
        ({"unittest": "x = 1", "tests": None}, "'unittest' has no class with a method whose name begins"),
        ({"unittest": "class A(: 1", "tests": None}, "'unittest' is not Python in its line 1"),
        ({"checker": "x = (", "tests": None, "entry_point": None}, "'checker' is not Python in its line 1"),
        ({"checker": "x = 1", "tests": None}, "'checker': a script has no entry_point"),
        ({"task": "speed", "code": "x", "unittest": "class A: pass", "tests": None}, "has no class with"),
        ({"known_bad": "x"}, "'known_bad' is a string, not a list"),
        ({"reference": "\ud800"}, "'reference' is not text at character 0"),
    ],
)
def test_a_wrong_row_is_named_by_line_and_field(changed: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", {**ROW, "id": "first"}, {**ROW, **changed})
    with pytest.raises(InputError) as raised:
        list(read_coding_tasks(path, "t.jsonl"))
    assert str(raised.value).startswith("t.jsonl:2: ")
    assert said in str(raised.value)


def test_an_id_stands_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t\.jsonl:2: 'id': t\.jsonl:1 also has the id 'a'"):
        list(read_coding_tasks(written(tmp_path / "t.jsonl", ROW, ROW), "t.jsonl"))


HUMANEVAL = {
    "task_id": "HumanEval/0",
    "prompt": 'import math\ndef helper(x):\n    return x\n\ndef root(x):\n    """Root."""\n',
    "canonical_solution": "    return helper(math.sqrt(x))\n",
    "entry_point": "root",
    "test": (
        "METADATA = {}\ndef check(candidate):\n    assert True\n    nine = 9\n    assert candidate(nine) == 3\n"
        "    for x in range(3):\n        assert candidate(x * x) == x\n    assert candidate(helper(4)) == 2\n"
    ),
}


def only(name: str, row: dict[str, Any], folder: Path) -> CodingTask:
    """The task that a set makes of one row."""
    path = folder / f"{name}.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(row).encode()))
    (task,) = read_coding_set(name, str(path), note=print)
    return task


def holds(task: CodingTask) -> None:
    """The task's tests pass on its reference, in one process."""
    scope: dict[str, Any] = {}
    for text in (task.setup, task.reference or "", task.driver, task.test_setup, *task.tests):
        exec(text, scope)


def test_a_check_becomes_its_statements(tmp_path: Path) -> None:
    """In order, with what stands before them; not those that every answer passes."""
    task = only("humaneval", HUMANEVAL, tmp_path)
    assert len(task.tests) == 3
    assert "nine = 9" in task.tests[0]
    assert "for x" in task.tests[1]
    assert "def helper" in task.setup
    assert "def root" not in task.setup
    holds(task)


def test_a_bug_is_known_to_be_bad(tmp_path: Path) -> None:
    row = {
        "task_id": "Python/3",
        "declaration": "def two():\n",
        "canonical_solution": "    return 2\n",
        "buggy_solution": "    return 3\n",
        "docstring": "Two.",
        "entry_point": "two",
        "test": "def check(two):\n    assert two() == 2\n\ncheck(two)",
    }
    task = only("humanevalfix", row, tmp_path)
    assert (task.id, task.known_bad, task.code) == (
        "humanevalfix/3",
        (task.code,),
        "def two():\n    return 3\n",
    )
    holds(task)


def test_calls_with_objects_are_made_beside_the_answer(tmp_path: Path) -> None:
    """An assert whose arguments are of the answer's own class is split: the call there, its value here."""
    row = {
        "task_id": 7,
        "text": "Sum.",
        "test_setup_code": "",
        "challenge_test_list": [],
        "code": "class P:\r\n    def __init__(self, a):\r\n        self.a = a\r\ndef f(p):\r\n    return p.a",
        "test_list": ["assert f(P(3)) == 3", "assert f(P(4)) == 4"],
    }
    task = only("mbpp", row, tmp_path)
    assert task.tests == ("assert case_1() == 3", "assert case_2() == 4")
    assert task.entry_point == "f"
    assert "3" not in task.driver.replace("P(3)", "")
    holds(task)


def test_two_functions_are_told_apart(tmp_path: Path) -> None:
    row = {
        "id": 0,
        "raw_problem": "def g(x):\n",
        "raw_solution": "    return x + 1\n",
        "new_problem": "# Twice.\ndef f(x):\n",
        "new_solution": "    import math\n    return g(g(x))\n",
        "test_code": "assert f(1) == 3\nassert f(2) == 4",
    }
    task = only("mbpp_pro", row, tmp_path)
    assert (task.entry_point, len(task.tests), [*task.parts]) == ("f", 2, ["base_right", "new_right"])
    assert "def f" in task.parts["base_right"]
    assert "def g" in task.parts["new_right"]
    holds(task)


PUZZLE = {
    "name": "Big:0",
    "sat": "def sat(n: int):\n    return len(str(n)) == 9000",
    "ans_type": "int",
    "sol_header": "def sol():",
    "sol_docstring": "",
    "sol_bodies": ["    return 10 ** 8999"],
}


def test_a_puzzle_has_its_checker(tmp_path: Path) -> None:
    """Integers of any size; a value of another type is none, though the checker would take it."""
    task = only("p3", PUZZLE, tmp_path)
    holds(task)
    assert task.family == "p3/Big"
    scope: dict[str, Any] = {"sol": lambda: "1" * 9000}
    exec(task.setup + "\n" + task.test_setup, scope)
    with pytest.raises(AssertionError):
        exec(task.tests[0], scope)
    assert (
        list(
            read_coding_set("p3", str(written(tmp_path / "n.jsonl", PUZZLE | {"sol_bodies": []})), note=print)
        )
        == []
    )


def test_an_edit_has_the_tests_of_humaneval(tmp_path: Path) -> None:
    written(tmp_path / "HumanEval.jsonl", HUMANEVAL)
    row = {
        "task_id": "HumanEval/0",
        "history": [{"code": "de"}],
        "current": {"code": "def root(x):\n  "},
        "user": "",
        "area": [4, 15],
    }
    task = only("apeval", row, tmp_path)
    assert task.history == ("de",)
    assert task.task == "edit"
    assert "from line 1, column 5 to line 2, column 3" in task.prompt
    holds(task)
    with pytest.raises(InputError, match="humaneval has no task 'HumanEval/1'"):
        only("apeval", row | {"task_id": "HumanEval/1"}, tmp_path)


@pytest.mark.parametrize(
    ("name", "row", "said"),
    [
        (
            "humaneval",
            HUMANEVAL | {"test": "def other(): pass"},
            "has no valid Python where HumanEval has it",
        ),
        ("humaneval", HUMANEVAL | {"prompt": "def (:"}, "has no valid Python where HumanEval has it"),
        (
            "mbpp",
            {"task_id": 1, "code": "x = 1", "test_list": ["assert g() == 1"]},
            "does not call a function that",
        ),
        ("p3", {"name": "x"}, "the row lacks 'sat'"),
    ],
)
def test_rows_of_other_sets_are_refused(name: str, row: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        only(name, row, tmp_path)
