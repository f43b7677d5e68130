"""Published sets in their own formats. Not: fetching them, which is in test_hub.py."""

import ast
import gzip
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from deskcheck.recording import InputError, Mode, Program
from deskcheck.sources import PUBLISHED, programs
from deskcheck.sources.sets import sets
from deskcheck.sources.text.python import quiet_parse

Shared = Callable[[str, str], Path]

CRUXEVAL = {"id": "sample_0", "code": "def f(a, b):\n    return b", "input": "(1, 2), 'x'", "output": "'x'"}
HUMANEVAL = {
    "task_id": "HumanEval/0",
    "prompt": "def add(a, b):\n",
    "canonical_solution": "    return a + b\n",
    "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
    "entry_point": "add",
}
MBPP = {
    "text": "Write a function to add.",
    "code": "import math\r\ndef helper(x):\r\n  return x\r\ndef add(a, b):\r\n  return helper(a) + b\r\n",
    "task_id": 7,
    "test_setup_code": "",
    "test_list": ["assert add(1, 2) == 3", "assert set(add([1], [2])) == set([1, 2])"],
    "challenge_test_list": [],
}
ROWS: dict[str, dict[str, Any]] = {"cruxeval": CRUXEVAL, "humaneval": HUMANEVAL, "mbpp": MBPP}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Each in the form that the file's name promises."""
    lines = "\n".join(json.dumps(row) for row in rows).encode()
    if path.name.endswith(".parquet"):
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    elif path.name.endswith(".json"):
        path.write_text(json.dumps(rows, indent=1))
    else:
        path.write_bytes(gzip.compress(lines, mtime=0) if path.name.endswith(".gz") else lines)
    return path


def read(name: str, path: Path) -> list[Program]:
    return list(programs(f"{name}:{path}"))


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".json", ".parquet"])
@pytest.mark.parametrize("name", ROWS)
def test_every_form_gives_the_same_programs(tmp_path: Path, name: str, suffix: str) -> None:
    """JSON lines, packed or not, a JSON list and Parquet hold the same rows."""
    expected = read(name, write(tmp_path / "a.jsonl", [ROWS[name]]))
    path = write(tmp_path / f"other{suffix}", [ROWS[name]])
    got = read(name, path)
    assert {program.source for program in got} == {f"{PUBLISHED[name].address} (as {path})"}
    assert [replace(program, source="") for program in got] == [
        replace(program, source="") for program in expected
    ]


def test_cruxeval_is_called_as_published(tmp_path: Path) -> None:
    """`input` is what stands between the parentheses of f(...): a tuple there is one argument."""
    rows = [
        CRUXEVAL,
        {**CRUXEVAL, "id": "sample_1", "input": "(1, 2)"},
        {**CRUXEVAL, "id": "sample_2", "input": ""},
    ]
    found = read("cruxeval", write(tmp_path / "c.jsonl", rows))
    assert [program.arguments for program in found] == ["((1, 2), 'x')", "((1, 2))", "()"]
    first = found[0]
    assert (first.id, first.mode, first.entry, first.code) == ("sample_0", Mode.CALL, "f", CRUXEVAL["code"])
    assert (first.expected, first.licence, first.train_ok, first.date) == ("'x'", "MIT", False, "2024-01-05")


def test_humaneval_calls_check_with_the_reference(tmp_path: Path) -> None:
    """Prompt, reference and test are one module; the call is the test's own."""
    (program,) = read("humaneval", write(tmp_path / "h.jsonl", [HUMANEVAL]))
    assert program.code == (
        "def add(a, b):\n    return a + b\n\n\ndef check(candidate):\n    assert candidate(1, 2) == 3\n"
    )
    assert (program.id, program.entry, program.arguments) == ("HumanEval/0", "check", "(add)")
    assert program.extra == {"entry_point": "add", "task_id": "HumanEval/0"}
    assert (program.licence, program.train_ok, program.date) == ("MIT", False, "2021-07-07")


def test_mbpp_runs_each_assert(tmp_path: Path) -> None:
    """One module per assert, which is its last line; the function under test is told from its helpers."""
    first, second = read("mbpp", write(tmp_path / "m.jsonl", [MBPP]))
    assert first.code == (
        "import math\ndef helper(x):\n  return x\ndef add(a, b):\n  return helper(a) + b\n"
        "assert add(1, 2) == 3\n"
    )
    assert (first.id, second.id, first.mode) == ("mbpp_7_0", "mbpp_7_1", Mode.MODULE)
    assert first.extra == {"task_id": 7, "assert": "assert add(1, 2) == 3", "entry": "add"}
    assert second.extra["entry"] == "add"
    assert (first.licence, first.train_ok, first.date) == ("CC-BY-4.0", False, "2021-08-16")


@pytest.mark.parametrize(
    ("row", "between"),
    [
        ({"test_setup_code": "import os\r\nx = 1\r\n"}, "import os\nx = 1\n"),
        ({"test_setup_code": None, "test_imports": ["import re", "import os"]}, "import re\nimport os\n"),
    ],
)
def test_mbpp_setup_stands_between_code_and_assert(tmp_path: Path, row: dict[str, Any], between: str) -> None:
    """In the full set it is `test_setup_code`, in the sanitized one `test_imports`."""
    program = read("mbpp", write(tmp_path / "m.jsonl", [{**MBPP, **row}]))[0]
    assert program.code.endswith(f"  return helper(a) + b\n{between}assert add(1, 2) == 3\n")


def test_mbpp_setup_may_use_the_code(shared: Shared) -> None:
    """Task 367 sets up trees of the class that its code defines, and its three asserts pass."""
    path = shared("mbpp/mbpp_730.jsonl", "the setup of MBPP tasks runs after their code")
    found = [program for program in read("mbpp", path) if program.extra["task_id"] == 367]
    assert len(found) == 3
    for program in found:
        exec(compile(program.code, program.filename, "exec"), {})


@pytest.mark.parametrize(
    ("test", "entry"),
    [
        ("assert not add(1, 2)", "add"),
        ("assert math.isclose(add(1, 2), 3)", "add"),
        ("assert unknown(1)", "unknown"),
        ("assert 1 == 1", None),
        ("assert add(", None),
    ],
)
def test_mbpp_function_under_test(tmp_path: Path, test: str, entry: str | None) -> None:
    """It is the first call of what the code defines; an assert without one has none."""
    (program,) = read("mbpp", write(tmp_path / "m.jsonl", [{**MBPP, "test_list": [test]}]))
    assert program.extra["entry"] == entry


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("cruxeval", {"input": "1), (2"}, "1: 'input': not an argument list"),
        ("cruxeval", {"output": 3}, "1: 'output' is a whole number, not a string."),
        ("cruxeval", {"output": "a\ud800"}, "1: 'output' is not text at character 1."),
        ("mbpp", {"test_imports": [3]}, "1: 'test_imports[0]' is a whole number, not a string."),
        ("humaneval", {"entry_point": "a b"}, "1: 'entry_point': not an argument list"),
        ("mbpp", {"task_id": "7"}, "1: 'task_id' is a string, not a whole number."),
        ("mbpp", {"test_list": []}, "1: 'test_list' is empty: task 7 has nothing to run."),
        ("mbpp", {"test_list": [1]}, "1: 'test_list[0]' is a whole number, not a string."),
        ("mbpp", {"test_imports": "import re"}, "1: 'test_imports' is a string, not a list."),
    ],
)
def test_a_damaged_row_is_refused(tmp_path: Path, name: str, row: dict[str, Any], message: str) -> None:
    """The error names the line and what is wrong with it."""
    path = write(tmp_path / "bad.jsonl", [{**ROWS[name], **row}])
    with pytest.raises(InputError) as caught:
        read(name, path)
    assert f"{path}:{message}" in str(caught.value)


@pytest.mark.parametrize("name", ROWS)
def test_a_foreign_file_is_refused(tmp_path: Path, name: str) -> None:
    """Rows of another set are told by the keys that they lack, and the error says which are expected."""
    other = next(other for other in ROWS if other != name)
    path = write(tmp_path / "other.jsonl", [ROWS[other]])
    keys = ", ".join(PUBLISHED[name].required)
    with pytest.raises(InputError, match=rf"other\.jsonl:1: the row lacks .* A row of .* has {keys}\."):
        read(name, path)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("a.jsonl", b"", "has no rows. A row of CRUXEval has id, code, input, output."),
        ("a.json", b"", "not JSON at column 1: Expecting value."),
        ("a.json", b"[]", "has no rows."),
        ("a.json", b'{"id": 1}', "a .json file holds a list of rows, this is an object."),
        ("a.json", b'[\n{"id": 1},\n', "not JSON at line 3, column 1"),
        ("a.jsonl", b'{"id": "sample_0", "co', ":1: is not JSON at column 20"),
        ("a.jsonl", b"version https://git-lfs.github.com/spec/v1\n", ":1: is not JSON at column 1"),
        ("a.jsonl.gz", b"not gzip", "incomplete gzip data"),
        ("a.jsonl.gz", gzip.compress(b'{"id": 1}', mtime=0)[:-9], "incomplete gzip data"),
        ("a.parquet", b"PAR1 not parquet", "incomplete Parquet"),
        ("a.parquet", b"", "incomplete Parquet"),
        ("a.jsonl", b"[" * 100_000, "is nested too deeply"),
        ("a.jsonl", b"null\n", "a row is a JSON object, this is null."),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, file: str, content: bytes, message: str) -> None:
    """Empty, cut short, another format: the error says what was found and what was expected."""
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read("cruxeval", path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".json", ".parquet"])
def test_no_damage_escapes_as_another_error(tmp_path: Path, suffix: str) -> None:
    """Cut and changed at 200 random places (seed 7), a file gives programs or an InputError, nothing else."""
    whole = write(tmp_path / f"whole{suffix}", [HUMANEVAL] * 5).read_bytes()
    generator = random.Random(7)
    refused = 0
    for _ in range(200):
        damaged = bytearray(whole[: generator.choice([len(whole), generator.randrange(len(whole))])])
        for _ in range(generator.randrange(4)):
            if damaged:
                damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        path = tmp_path / f"damaged{suffix}"
        path.write_bytes(damaged)
        try:
            read("humaneval", path)
        except InputError:
            refused += 1
    assert refused > 50


@pytest.mark.parametrize("path", ["", "absent.jsonl", ".", "test_published.txt"])
def test_a_file_that_is_not_there_is_refused(path: str) -> None:
    """At once, before anything is recorded, with both ways to name the set."""
    with pytest.raises(InputError, match=r"write cruxeval:PATH .* or only cruxeval to fetch the set"):
        programs(f"cruxeval:{path}")


def test_all_of_cruxeval_is_read_and_true(shared: Shared) -> None:
    """Each program, run, gives the repr that the set publishes."""
    path = shared("cruxeval/cruxeval_600.jsonl", "600 CRUXEval programs give their published outputs")
    found = read("cruxeval", path)
    assert len({program.id for program in found}) == 600
    for program in found:
        namespace: dict[str, Any] = {}
        exec(compile(program.code, program.filename, "exec"), namespace)
        assert repr(eval(f"f{program.arguments}", namespace)) == program.expected, program.id


def test_all_of_humaneval_is_read(shared: Shared) -> None:
    """Every program is whole Python that defines `check` and the function given to it."""
    found = read("humaneval", shared("humaneval/HumanEval.jsonl", "164 HumanEval programs are whole Python"))
    assert [program.id for program in found] == [f"HumanEval/{n}" for n in range(164)]
    for program in found:
        names = {node.name for node in ast.parse(program.code).body if isinstance(node, ast.FunctionDef)}
        assert {"check", program.extra["entry_point"]} <= names, program.id


def test_all_of_mbpp_is_read(shared: Shared) -> None:
    """Every program is whole Python, ends in its assert, and knows which function is tested."""
    proves = "2190 MBPP programs are whole Python with a known entry"
    found = read("mbpp", shared("mbpp/mbpp_730.jsonl", proves))
    assert len({program.id for program in found}) == 2190
    for program in found:
        assert "\r" not in program.code
        tree = quiet_parse(program.code)
        assert isinstance(tree.body[-1], ast.Assert)
        assert ast.unparse(tree.body[-1]) == ast.unparse(quiet_parse(program.extra["assert"]))
        assert program.extra["entry"] in {
            node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
        }


def test_a_set_and_its_reader_need_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """One without the other is an error that says what to write, and where."""
    facts = {**sets.facts_of_sets("programs")}
    facts["strange"] = facts["mbpp"]
    monkeypatch.setattr(sets, "facts_of_sets", lambda kind: facts)
    with pytest.raises(RuntimeError, match=r"sets.toml has the set 'strange'.*@rows_of\(\"strange\"\)"):
        sets.published_sets()
    del facts["strange"], facts["mbpp"]
    with pytest.raises(RuntimeError, match=r"reads the published set 'mbpp'.*no table \[programs.mbpp\]"):
        sets.published_sets()
