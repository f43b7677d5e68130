"""REval's programs: functions of HumanEval, and classes of ClassEval with one of their tests.

The set (arXiv:2403.16437) is two files in one folder. ``DREval_data.jsonl`` has programs and inputs.
``DREval_tasks.jsonl`` has the questions: inputs with lines and variables. Row N of one file belongs to row N
of the other. Each input with questions becomes a program. Its `extra` has the questions:

    reval   {"idx", "input_idx", "tasks": [{"lineno", "var"}], "of": number of lines of the code}

A class is run in the same way as by the set. Its test classes are those whose names begin with the name of
the class and ``Test``; the number of the input chooses one of them. ``setUp`` runs first, then the first
method whose name begins with ``test``. The last line makes that call. Lines that run before it do not count
(`ask.questions.reval`).
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deskcheck.recording import InputError, Mode
from deskcheck.sources.sets.sets import ToPrograms, reader_of
from deskcheck.sources.text.arguments import argument_list
from deskcheck.sources.text.python import parse
from deskcheck.sources.text.rows import Row, check_fields, check_type, read_rows

TASKS_FILE = "DREval_tasks.jsonl"
_TASKS_HOLD = f"A row of {TASKS_FILE} has idx and tasks, a list of objects with input_idx and task."


def reval_tasks(path: Path, display_path: str) -> list[tuple[str, Row]]:
    """(location, row) for each row of the file of tasks beside a file of programs.

    Raises:
        InputError: the file does not exist, or a row has another form.
    """
    beside = path.with_name(TASKS_FILE)
    tasks_display_path = str(Path(display_path).with_name(TASKS_FILE))
    if not beside.is_file():
        raise InputError(f"{display_path}: {TASKS_FILE}, which has REval's questions, is not beside it.")
    rows = []
    for number, (location, row) in enumerate(read_rows(beside, tasks_display_path, _TASKS_HOLD)):
        check_fields(row, {"idx": int, "tasks": list}, location, _TASKS_HOLD)
        if row["idx"] != number:
            raise InputError(f"{location}: 'idx' is {row['idx']}, in row {number}, counted from 0.")
        for k, question in enumerate(row["tasks"]):
            question_location = f"{location}: 'tasks[{k}]'"
            check_type(question, dict, f"tasks[{k}]", location)
            check_fields(
                question, {"input_idx": int, "task": list, "output_pred": str}, question_location, _TASKS_HOLD
            )
            for variable in question["task"]:
                check_type(variable, dict, f"tasks[{k}].task", location)
                check_fields(variable, {"lineno": int, "var": str}, question_location, _TASKS_HOLD)
        rows.append((location, row))
    return rows


@reader_of("reval")
def reval_reader(path: Path, display_path: str) -> ToPrograms:
    tasks = iter(reval_tasks(path, display_path))

    def to_programs(row: Row, location: str) -> Iterator[dict[str, Any]]:
        task_location, task_row = next(tasks, (None, None))
        if task_row is None:
            raise InputError(f"{location}: {TASKS_FILE} has no row for it.")
        for entry in task_row["tasks"]:
            yield {
                **_program(row, entry["input_idx"], location, f"{task_location}"),
                "id": f"{row['task_id']}/{entry['input_idx']}",
            } | {"extra": _extra(row, task_row["idx"], entry)}

    return to_programs


def _extra(row: Row, idx: int, question: dict[str, Any]) -> dict[str, Any]:
    facts = {"idx": idx, "input_idx": question["input_idx"], "tasks": question["task"]}
    return {"entry_point": row["entry_point"], "reval": {**facts, "of": len(row["code"].split("\n"))}}


def _program(row: Row, number: int, location: str, task_location: str) -> dict[str, Any]:
    if not 0 <= number < len(row["inputs"]):
        raise InputError(
            f"{task_location}: 'input_idx' is {number}, and {location} has {len(row['inputs'])} inputs."
        )
    text = row["inputs"][number]
    check_type(text, str, f"inputs[{number}]", location)
    if row.get("test") is not None:
        check_type(row["test"], str, "test", location)
        return {"code": _test_run(row, number, location), "mode": Mode.MODULE}
    return {
        "code": row["code"],
        "mode": Mode.CALL,
        "entry": row["entry_point"],
        "arguments": _without_last_comma(text, f"{location}: 'inputs[{number}]'"),
        "expected": _output(row, number, location),
    }


def _without_last_comma(text: str, location: str) -> str:
    """The argument list ``(3, 4)`` of an input that the set writes as the tuple ``(3, 4,)``."""
    if not text.endswith(",)"):
        raise InputError(f"{location}: is not a tuple of arguments that ends with ',)': {text:.80}")
    return argument_list(f"{text[:-2]})", location)


def _output(row: Row, number: int, location: str) -> str | None:
    outputs = row.get("outputs") or []
    check_type(outputs, list, "outputs", location)
    if number >= len(outputs):
        return None
    check_type(outputs[number], str, f"outputs[{number}]", location)
    return str(outputs[number])


def _test_run(row: Row, number: int, location: str) -> str:
    """The code of a class, its tests, and a call of one test in the last line."""
    tree = parse(row["test"], f"{location}: 'test'")
    prefix = f"{row['entry_point']}Test"
    classes = {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name.startswith(prefix)
    }
    if number >= len(classes):
        raise InputError(
            f"{location}: 'test' has {len(classes)} classes {prefix}..., and input {number} is asked about."
        )
    name, node = list(classes.items())[number]
    methods = [
        method.name
        for method in node.body
        if isinstance(method, ast.FunctionDef) and method.name.startswith("test")
    ]
    if not methods:
        raise InputError(f"{location}: 'test': {name} has no method whose name begins with test.")
    run = f"_case = {name}()\n_case.setUp()\n_case.{methods[0]}()\n"
    return "\n".join([row["code"], "", row["test"], "", run])
