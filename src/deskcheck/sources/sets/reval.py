"""REval's programs: functions of HumanEval, and classes of ClassEval with one of their tests.

The set (arXiv:2403.16437) is two files in one folder: ``DREval_data.jsonl`` has programs and
inputs, ``DREval_tasks.jsonl`` says which inputs are asked about, and of which lines and variables. Row N of
one belongs to row N of the other. A program is made for each input that is asked about. What is asked
stands in its `extra`:

    reval   {"idx", "input_idx", "tasks": [{"lineno", "var"}], "of": lines of the code that is asked about}

A class is run as the set runs it: its test class is the one with the number of the input, among those whose
name begins as the class and ``Test``; ``setUp`` runs first; of the methods the first one whose name begins
with ``test``. The last line makes that call. What runs before it does not count (`ask.questions.reval`).
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deskcheck.recording import InputError, Mode
from deskcheck.sources.sets.sets import ToPrograms
from deskcheck.sources.text.arguments import argument_list
from deskcheck.sources.text.python import parse
from deskcheck.sources.text.rows import Row, check_fields, check_type, read_rows

TASKS_FILE = "DREval_tasks.jsonl"
_TASKS_HOLD = f"A row of {TASKS_FILE} has idx and tasks, a list of objects with input_idx and task."


def reval_tasks(path: Path, shown: str) -> list[tuple[str, Row]]:
    """(place, row) of the file of tasks that lies beside a file of programs.

    Raises:
        InputError: there is none, or a row is not in its form.
    """
    beside = path.with_name(TASKS_FILE)
    shown_tasks = str(Path(shown).with_name(TASKS_FILE))
    if not beside.is_file():
        raise InputError(f"{shown}: {TASKS_FILE} is not beside it: REval's questions stand there.")
    rows = []
    for number, (place, row) in enumerate(read_rows(beside, shown_tasks, _TASKS_HOLD)):
        check_fields(row, {"idx": int, "tasks": list}, place, _TASKS_HOLD)
        if row["idx"] != number:
            raise InputError(f"{place}: 'idx' is {row['idx']}, in row {number}, counted from 0.")
        for k, asked in enumerate(row["tasks"]):
            here = f"{place}: 'tasks[{k}]'"
            check_type(asked, dict, f"tasks[{k}]", place)
            check_fields(asked, {"input_idx": int, "task": list, "output_pred": str}, here, _TASKS_HOLD)
            for variable in asked["task"]:
                check_type(variable, dict, f"tasks[{k}].task", place)
                check_fields(variable, {"lineno": int, "var": str}, here, _TASKS_HOLD)
        rows.append((place, row))
    return rows


def reval_reader(path: Path, shown: str) -> ToPrograms:
    tasks = iter(reval_tasks(path, shown))

    def to_programs(row: Row, place: str) -> Iterator[dict[str, Any]]:
        at, asked = next(tasks, (None, None))
        if asked is None:
            raise InputError(f"{place}: {TASKS_FILE} has no row for it.")
        for one in asked["tasks"]:
            yield {
                **_program(row, one["input_idx"], place, f"{at}"),
                "id": f"{row['task_id']}/{one['input_idx']}",
            } | {"extra": _extra(row, asked["idx"], one)}

    return to_programs


def _extra(row: Row, idx: int, asked: dict[str, Any]) -> dict[str, Any]:
    told = {"idx": idx, "input_idx": asked["input_idx"], "tasks": asked["task"]}
    return {"entry_point": row["entry_point"], "reval": {**told, "of": len(row["code"].split("\n"))}}


def _program(row: Row, number: int, place: str, asked_at: str) -> dict[str, Any]:
    if not 0 <= number < len(row["inputs"]):
        raise InputError(f"{asked_at}: 'input_idx' is {number}, and {place} has {len(row['inputs'])} inputs.")
    text = row["inputs"][number]
    check_type(text, str, f"inputs[{number}]", place)
    if row.get("test") is not None:
        check_type(row["test"], str, "test", place)
        return {"code": _test_run(row, number, place), "mode": Mode.MODULE}
    return {
        "code": row["code"],
        "mode": Mode.CALL,
        "entry": row["entry_point"],
        "arguments": _without_last_comma(text, f"{place}: 'inputs[{number}]'"),
        "expected": _output(row, number, place),
    }


def _without_last_comma(text: str, place: str) -> str:
    """The set writes an input as a tuple: ``(3, 4,)``, and shows it as ``f(3, 4)``."""
    if not text.endswith(",)"):
        raise InputError(f"{place}: is no tuple of arguments that ends with ',)': {text:.80}")
    return argument_list(f"{text[:-2]})", place)


def _output(row: Row, number: int, place: str) -> str | None:
    outputs = row.get("outputs") or []
    check_type(outputs, list, "outputs", place)
    if number >= len(outputs):
        return None
    check_type(outputs[number], str, f"outputs[{number}]", place)
    return str(outputs[number])


def _test_run(row: Row, number: int, place: str) -> str:
    """The class, its tests, and a call of one of them in the last line."""
    tree = parse(row["test"], f"{place}: 'test'")
    prefix = f"{row['entry_point']}Test"
    classes = {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name.startswith(prefix)
    }
    if number >= len(classes):
        raise InputError(
            f"{place}: 'test' has {len(classes)} classes {prefix}..., and input {number} is asked about."
        )
    name, node = list(classes.items())[number]
    methods = [
        one.name for one in node.body if isinstance(one, ast.FunctionDef) and one.name.startswith("test")
    ]
    if not methods:
        raise InputError(f"{place}: 'test': {name} has no method whose name begins with test.")
    run = f"_case = {name}()\n_case.setUp()\n_case.{methods[0]}()\n"
    return "\n".join([row["code"], "", row["test"], "", run])
