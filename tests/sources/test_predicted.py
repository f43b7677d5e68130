"""Sets of execution prediction that the user has, in their published forms. The rows are made here."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recording import InputError, Mode, Program
from deskcheck.sources import PUBLISHED, programs
from deskcheck.sources.check import check
from deskcheck.sources.sets.predicted import LIVECODEBENCH_NAMES, with_imports
from deskcheck.sources.text.rows import read_rows
from tests.ask.conftest import record_here

LIVECODEBENCH = {
    "question_id": "3000",
    "contest_id": "weekly-1",
    "contest_date": "2023-08-01T00:00:00",
    "difficulty": "easy",
    "function_name": "pairs",
    "code": "def pairs(words: List[str]) -> int:\n    return sum(n // 2 for n in Counter(words).values())",
    "input": 'pairs(words = ["a", "b", "a"])',
    "output": "1",
    "id": "sample_0",
    "problem_id": "1_1",
    "numsteps": 9,
}
_CHECK = "def check(candidate):\n    assert candidate({}) == {}\n\ndef test_check():\n    check(f)\n\ntest_check()\n"
CRUXEVAL_X = {
    "id": 7,
    "code": "def f(a: int, b: int) -> list[int]:    \n    return [b, a]\n\n"
    + _CHECK.format("1, (2)", "[2.0, 1]"),
    "input_reasoning": _CHECK.format("????", "[2.0, 1]"),
    "output_reasoning": _CHECK.format("1, (2)", "????"),
}
COCONUT = {
    "HumanEval_ID": "HumanEval/900",
    "Name": "clip",
    "FunctionCall": "[5, -1], 3",
    "ExecutedLines": "[2, 2, 2, 2, 3, 4]",
    "ExecutedLines_Symbols": "bbbbcd",
    "Code_Indices": "def clip(xs, n):  # 1\n    ys = [min(x, n) for x in xs]  # 2\n    ys.sort()  # 3\n    return ys  # 4",
    "Code_Symbols": "",
}
SURGE = {
    "custom_categoey": 1,
    "custom_features": {"language": "Python", "lines": 1, "repo": "made"},
    "question": "for n in range(2):\n    print(n, 'x')\n",
    "gt": "0 x\n1 x",
    "sys_0shot": "",
}
_BAG = """\
class Bag:
    def __init__(self, items):
        self.items = items

    def most(self):
        best = self.items[0]
        for item in self.items:
            if item > best:
                best = item
        return best"""
_TESTS = """\
import unittest


class BagTestInit(unittest.TestCase):
    def test_init(self):
        self.assertEqual(Bag([1]).items, [1])


class BagTestMost(unittest.TestCase):
    def setUp(self):
        self.bag = Bag([3, 1])
        self.bag.most()

    def helper(self):
        return self.bag

    def test_most(self):
        self.assertEqual(self.helper().most(), 3)

    def test_most_2(self):
        self.fail()
"""
REVAL: list[dict[str, Any]] = [
    {
        "task_id": "DREval/0",
        "entry_point": "half",
        "code": "def half(n, by):\n    if n % by:\n        n = n - 1\n    return n / by\n",
        "inputs": ["(9, 2,)", "(4, 2,)", "(1, 1,)"],
        "outputs": ["4", "2.0", "1.0"],
        "test": None,
    },
    {
        "task_id": "DREval/1",
        "entry_point": "Bag",
        "code": _BAG,
        "inputs": ["assertEqual(Bag([1]).items, [1])\n", "assertEqual(self.helper().most(), 3)\n"],
        "outputs": [],
        "test": _TESTS,
    },
]
REVAL_TASKS: list[dict[str, Any]] = [
    {
        "task_id": "DREval/0",
        "idx": 0,
        "tasks": [
            {
                "input_idx": 1,
                "task": [{"lineno": 3, "var": "n"}, {"lineno": 4, "var": "n"}],
                "output_pred": "assert half(4, 2) == ??",
            },
            {
                "input_idx": 0,
                "task": [{"lineno": 3, "var": "n"}],
                "output_pred": "assert half(9, 2) == ??",
            },
        ],
    },
    {
        "task_id": "DREval/1",
        "idx": 1,
        "tasks": [
            {
                "input_idx": 1,
                "task": [
                    {"lineno": 3, "var": "self.items"},
                    {"lineno": 9, "var": "best"},
                    {"lineno": 7, "var": "item"},
                ],
                "output_pred": "assertEqual(self.helper().most(), ??)",
            }
        ],
    },
]
ROWS: dict[str, dict[str, Any]] = {
    "livecodebench": LIVECODEBENCH,
    "cruxeval_x": CRUXEVAL_X,
    "coconut": COCONUT,
    "surge": SURGE,
}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    """Rows in the form that the file's name promises."""
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def write_reval(
    folder: Path, data: list[dict[str, Any]] | None = None, tasks: list[dict[str, Any]] | None = None
) -> Path:
    """The set's two files."""
    write(folder / "DREval_tasks.jsonl", *(REVAL_TASKS if tasks is None else tasks))
    return write(folder / "DREval_data.jsonl", *(REVAL if data is None else data))


SUFFIX = {"coconut": ".csv", "surge": ".json"}


def read(folder: Path, name: str, *rows: dict[str, Any]) -> list[Program]:
    path = write(folder / f"rows{SUFFIX.get(name, '.jsonl')}", *(rows or (ROWS[name],)))
    return list(programs(f"{name}:{path}"))


def test_livecodebench_is_called_as_its_check_does(tmp_path: Path) -> None:
    """What the set's check imports before the code stands above it, as far as the code uses it."""
    (program,) = read(tmp_path, "livecodebench")
    assert program.code == (
        "from collections import Counter\nfrom typing import List\n\n" + LIVECODEBENCH["code"]  # type: ignore[operator]
    )
    assert (program.entry, program.arguments) == ("pairs", '(words = ["a", "b", "a"])')
    assert (program.id, program.expected, program.mode) == ("sample_0", "1", Mode.CALL)
    assert (program.train_ok, program.licence) == (False, None)


@pytest.mark.parametrize(
    ("code", "imports"),
    [
        ("def f(x):\n    return x", []),
        ("def f(bisect: int):\n    return bisect", []),
        ("def gcd(a, b):\n    return a\ndef f(x):\n    return gcd(x, math.pi)", ["import math"]),
        ("import math\ndef f(x):\n    return math.pi", []),
        ("def f(xs):\n    count = 0\n    return [inf for _ in xs], count", ["from math import inf"]),
        (
            "class A:\n    xs: List[int]\n    def f(self):\n        return np.array(self)",
            ["from typing import List", "import numpy as np"],
        ),
    ],
)
def test_livecodebench_imports_what_is_used(code: str, imports: list[str]) -> None:
    """A name that the code binds itself is its own; a local one is none of the module's."""
    assert with_imports(code, "here").removesuffix(code).split("\n") == [
        *imports,
        *([""] * 2 if imports else [""]),
    ]


def test_livecodebench_names_can_be_had() -> None:
    """Each statement gives the name, with what is installed here."""
    for name, line in LIVECODEBENCH_NAMES.items():
        if "pandas" not in line and "numpy" not in line:
            found: dict[str, Any] = {}
            exec(line, found)
            assert name in found


def test_cruxeval_x_python_rows(tmp_path: Path) -> None:
    """The code is what stands above the check; the check has the call and its result."""
    (program,) = read(tmp_path, "cruxeval_x")
    assert program.code == "def f(a: int, b: int) -> list[int]:    \n    return [b, a]\n"
    assert (program.id, program.entry, program.arguments, program.expected) == (
        "cruxeval_x_7",
        "f",
        "(1, (2))",
        "[2.0, 1]",
    )


def test_coconut_calls(tmp_path: Path) -> None:
    """Arguments stand there as in a call, or as the text of a tuple; rows may be there twice."""
    rows = [COCONUT, COCONUT, {**COCONUT, "FunctionCall": "([5, -1], 3)"}]
    found = read(tmp_path, "coconut", *rows)
    assert [program.arguments for program in found] == ["([5, -1], 3)"] * 3
    assert [program.id for program in found] == ["coconut_1", "coconut_2", "coconut_3"]
    assert found[0].extra == {"task_id": "HumanEval/900", "published_lines": [2, 2, 2, 2, 3, 4]}


def test_surge_python_programs(tmp_path: Path) -> None:
    """Of a file in several languages those in Python; the key that the set misspells is read."""
    other = {**SURGE, "custom_features": {"language": "C"}}
    second = {**{k: v for k, v in SURGE.items() if k != "custom_categoey"}, "custom_category": 2}
    found = read(tmp_path, "surge", other, SURGE, second)
    assert [(p.id, p.mode) for p in found] == [("surge_rows_2", Mode.MODULE), ("surge_rows_3", Mode.MODULE)]
    assert found[0].extra == {"published_output": "0 x\n1 x"}


def test_reval_programs(tmp_path: Path) -> None:
    """One for each input that is asked about; of a class its test, the first of those of the test class."""
    first, second, test = programs(f"reval:{write_reval(tmp_path)}")
    assert (first.id, first.arguments, first.expected) == ("DREval/0/1", "(4, 2)", "2.0")
    assert (second.id, second.arguments, second.expected) == ("DREval/0/0", "(9, 2)", "4")
    assert first.extra["reval"] == {
        "idx": 0,
        "input_idx": 1,
        "tasks": [{"lineno": 3, "var": "n"}, {"lineno": 4, "var": "n"}],
        "of": 5,
    }
    assert (test.id, test.mode, test.expected) == ("DREval/1/1", Mode.MODULE, None)
    assert test.code.startswith(_BAG + "\n\nimport unittest\n")
    assert test.code.endswith("\n_case = BagTestMost()\n_case.setUp()\n_case.test_most()\n")
    assert test.extra["reval"]["of"] == 10


@pytest.mark.parametrize("name", [*ROWS, "reval"])
def test_they_are_not_fetched(name: str) -> None:
    """Without a file the error says where the set is from."""
    with pytest.raises(
        InputError, match=rf"^{name}: is not fetched: write {name}:PATH with your copy .*https://"
    ):
        programs(name)


@pytest.mark.parametrize("name", ROWS)
def test_a_field_that_is_missing_or_of_another_type(tmp_path: Path, name: str) -> None:
    """The error names file, row and field."""
    for field in PUBLISHED[name].required:
        without = {key: value for key, value in ROWS[name].items() if key != field}
        with pytest.raises(InputError, match=rf"rows\S*( row )?1: the row lacks '{field}'"):
            read(tmp_path, name, without)
        if name != "coconut":  # in CSV everything is text
            with pytest.raises(InputError, match=rf"rows\S*( row )?1: '{field}' is null, not "):
                read(tmp_path, name, {**ROWS[name], field: None})


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("livecodebench", {"input": "other(1)"}, r"1: 'input': is not a call of pairs: other\(1\)"),
        ("livecodebench", {"input": "pairs(1"}, "1: 'input': is not a call of pairs: .*never closed"),
        ("livecodebench", {"input": "pairs"}, "1: 'input': is not a call of pairs"),
        ("livecodebench", {"code": "def pairs(:"}, "1: 'code': is not Python"),
        ("cruxeval_x", {"code": "class Problem {}"}, r"1: 'code' has no 'def check.*only py.jsonl is read"),
        (
            "cruxeval_x",
            {"output_reasoning": _CHECK.format("9", "????")},
            "1: 'output_reasoning' is not the check",
        ),
        (
            "cruxeval_x",
            {"input_reasoning": _CHECK.format("????", "3")},
            "1: 'input_reasoning' is not the check",
        ),
        (
            "cruxeval_x",
            {"input_reasoning": "print(????)"},
            "1: 'input_reasoning': the check is not one assert",
        ),
        ("cruxeval_x", {"input_reasoning": "assert ????("}, "1: 'input_reasoning': the check is not Python"),
        ("coconut", {"FunctionCall": "[1"}, "row 1: 'FunctionCall': not an argument list"),
        (
            "coconut",
            {"ExecutedLines": "[1, '(']"},
            r"row 1: 'ExecutedLines' is not a list of line numbers: \[1, '\('",
        ),
        ("surge", {"custom_categoey": 4}, "row 1: 'custom_category' is 4: of SURGE only"),
        ("surge", {"custom_categoey": "1"}, "row 1: 'custom_category' is '1', not a whole number"),
    ],
)
def test_a_row_that_is_none_of_the_set(tmp_path: Path, name: str, row: dict[str, Any], message: str) -> None:
    """The error says what is wrong, and where."""
    with pytest.raises(InputError, match=message):
        read(tmp_path, name, {**ROWS[name], **row})


def _spoilt(change: Callable[[list[dict[str, Any]], list[dict[str, Any]]], object]) -> tuple[Any, Any]:
    data, tasks = json.loads(json.dumps([REVAL, REVAL_TASKS]))
    change(data, tasks)
    return data, tasks


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d, t: d[0].pop("inputs"), r"DREval_data.jsonl:1: the row lacks 'inputs'"),
        (
            lambda d, t: t[0]["tasks"][0].pop("task"),
            r"DREval_tasks.jsonl:1: 'tasks\[0\]': the row lacks 'task'",
        ),
        (lambda d, t: t[0]["tasks"][0]["task"][0].pop("var"), r"jsonl:1: 'tasks\[0\]': the row lacks 'var'"),
        (lambda d, t: t[0].update(idx=1), r"DREval_tasks.jsonl:1: 'idx' is 1, in row 0"),
        (lambda d, t: t.pop(), r"DREval_data.jsonl:2: DREval_tasks.jsonl has no row for it"),
        (
            lambda d, t: t[0]["tasks"][0].update(input_idx=9),
            r"tasks.jsonl:1: 'input_idx' is 9, and .* has 3 inputs",
        ),
        (lambda d, t: d[0].update(inputs=["(9, 2)"] * 2), r"data.jsonl:1: 'inputs\[1\]': is not a tuple"),
        (lambda d, t: d[0].update(outputs=[1, 2]), r"data.jsonl:1: 'outputs\[1\]' is a whole number"),
        (lambda d, t: d[1].update(test="class A: pass"), r"data.jsonl:2: 'test' has 0 classes BagTest"),
        (
            lambda d, t: d[1].update(test="class BagTest1: pass\nclass BagTest2: pass"),
            "BagTest2 has no method",
        ),
        (lambda d, t: d[1].update(test="class"), r"data.jsonl:2: 'test':1:"),
    ],
)
def test_reval_rows_that_are_wrong(tmp_path: Path, change: Any, message: str) -> None:
    """The error names the file of the two, the row and the field."""
    path = write_reval(tmp_path, *_spoilt(change))
    with pytest.raises(InputError, match=message):
        list(programs(f"reval:{path}"))


def test_reval_is_two_files(tmp_path: Path) -> None:
    """Without the tasks nothing is asked."""
    path = write_reval(tmp_path)
    (tmp_path / "DREval_tasks.jsonl").unlink()
    with pytest.raises(InputError, match=r"DREval_tasks.jsonl, .* is not beside it"):
        list(programs(f"reval:{path}"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,a\n1,2\n", "two columns have the same name"),
        ("a,b\n1,2\n1\n", r"row 2: has 1 cells, and the first line 2"),
        ('a,b\n1,"2', r"line 2: not CSV"),
        ("", "has no rows"),
    ],
)
def test_csv_that_is_none(tmp_path: Path, text: str, message: str) -> None:
    """The error says where."""
    path = tmp_path / "c.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        list(read_rows(path, "c.csv", ""))


@pytest.mark.parametrize(
    ("name", "field", "other", "why"),
    [
        ("livecodebench", "output", "2", "returned '1', not '2'"),
        ("livecodebench", "output", "1.0", None),
        ("livecodebench", "output", "one", "returned '1', not 'one'"),
        ("coconut", "ExecutedLines", "[2, 3, 3, 4]", None),
        ("coconut", "ExecutedLines", "[2, 4, 3]", "line 3 runs as number 2, where line 4 should"),
        ("coconut", "ExecutedLines", "[2, 3]", "3 lines run, not 2; the first 2 are equal"),
        ("surge", "gt", "0 x", r"printed '0 x\n1 x', not '0 x'"),
    ],
)
def test_what_rows_state_is_compared_with_a_run(
    tmp_path: Path, name: str, field: str, other: str, why: str | None
) -> None:
    """`deskcheck runs check`: as published nothing differs; another answer is found, as the set compares."""
    own, changed = read(tmp_path, name), read(tmp_path, name, {**ROWS[name], field: other})
    assert check([record_here(one) for one in own]).wrong == {}
    found = check([record_here(one) for one in changed]).wrong
    assert found == ({} if why is None else {changed[0].id: why})


def test_cruxeval_x_results_are_compared_by_value(tmp_path: Path) -> None:
    """The set asserts that they are equal: [2, 1] is [2.0, 1]."""
    (program,) = read(tmp_path, "cruxeval_x")
    report = check([record_here(program)])
    assert (report.checked, report.wrong) == (1, {})
