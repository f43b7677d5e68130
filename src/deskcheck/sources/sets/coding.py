"""Tasks whose answer is a program, and the one form of row that they all have.

A row is a JSON object in a file of `rows.FORMATS`. `FIELDS` says what it may have;
docs/reference/benchmarks.md describes it for users. Published sets are brought into this form by
`coding_sets`.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from deskcheck.recording import InputError
from deskcheck.sources.text.python import quiet_parse, short_numbers
from deskcheck.sources.text.rows import Row, check_fields, check_type, read_rows

WORK = ("write", "complete", "repair", "edit", "speed")
"""What is to be done with the code that a task gives; of ``speed`` it is right, and slow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StdinCase:
    """A run of a script: what it reads, and what it must print."""

    stdin: str
    stdout: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingTask:
    """A task whose answer is a program: a function, a class or a script.

    prompt: what is to be done, in words. task: one of `WORK`. code: what is to be completed, repaired or
    edited. history: earlier versions of it, oldest first. entry_point: the name that the answer must define;
    None for a script. visible_tests: shown in the prompt. setup: code that runs before the answer and before
    the tests, such as imports. driver: code that runs after the answer, in its process; it may call the
    answer, and tests may call its functions. test_setup: runs before the tests, beside them. tests: Python
    text, each passed if it raises nothing. cases: of a script, instead of tests. unittest: instead of tests,
    a text with test classes that run in the answer's own process. checker: of a script that reads nothing,
    Python that raises where what the script printed (``printed``) is not right; it runs in another process of
    the same environment. reference: a right answer, whole.
    known_bad: wrong ones. modules: what must be installed. environment: name of the environment
    (`deskcheck env`) that answers run in; None: what deskcheck runs in. parts: name -> code that replaces
    some of the answer; the tests then tell how right the rest is. family: tasks of one family are no
    independent observations.
    """

    id: str
    prompt: str
    task: str = "write"
    code: str = ""
    history: tuple[str, ...] = ()
    entry_point: str | None = None
    visible_tests: tuple[str, ...] = ()
    setup: str = ""
    driver: str = ""
    test_setup: str = ""
    tests: tuple[str, ...] = ()
    cases: tuple[StdinCase, ...] = ()
    unittest: str = ""
    checker: str = ""
    reference: str | None = None
    known_bad: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    environment: str | None = None
    parts: dict[str, str] = field(default_factory=dict)
    family: str | None = None


_REQUIRED: dict[str, type] = {"id": str, "prompt": str}
_TEXTS = [f.name for f in fields(CodingTask) if f.type in (str, str | None) and f.name not in _REQUIRED]
_LISTS = [f.name for f in fields(CodingTask) if f.type == tuple[str, ...]]
FIELDS = (*_REQUIRED, *_TEXTS, *_LISTS, "cases")
HOLDS = (
    "A row of a benchmark of programs has id and prompt, and tests, cases, unittest or checker; it may have "
    f"{', '.join(FIELDS)}."
)


def read_coding_tasks(path: Path, shown: str) -> Iterator[CodingTask]:
    """The tasks of a user's own file. shown: its path as the user wrote it.

    Raises InputError, with line and field: a row that is not of this form; an id that is there twice.
    """
    places: dict[str, str] = {}
    for place, row in read_rows(path, shown, HOLDS):
        task = _task_of(row, place)
        if task.id in places:
            raise InputError(f"{place}: 'id': {task.id!r} is the id of {places[task.id]}, too.")
        places[task.id] = place
        yield task


def _task_of(row: Row, place: str) -> CodingTask:
    check_fields(row, _REQUIRED, place, HOLDS)
    unknown = sorted(row.keys() - {*FIELDS})
    if unknown:
        raise InputError(f"{place}: {unknown[0]!r} is no field of such a row. {HOLDS}")
    values: dict[str, Any] = {name: row[name] for name in _REQUIRED}
    for name in _TEXTS:
        if row.get(name) is not None:
            check_type(row[name], str, name, place)
            values[name] = row[name]
    for name in _LISTS:
        if row.get(name) is not None:
            values[name] = _texts(row[name], name, place)
    if row.get("cases") is not None:
        values["cases"] = tuple(_cases(row["cases"], place))
    task = CodingTask(**values)
    _check(task, place)
    return task


def _texts(value: object, name: str, place: str) -> tuple[str, ...]:
    check_type(value, list, name, place)
    assert isinstance(value, list)
    for number, text in enumerate(value):
        check_type(text, str, f"{name}[{number}]", place)
    return tuple(value)


def _cases(value: object, place: str) -> Iterator[StdinCase]:
    check_type(value, list, "cases", place)
    assert isinstance(value, list)
    for number, case in enumerate(value):
        name = f"cases[{number}]"
        check_type(case, dict, name, place)
        if set(case) != {"stdin", "stdout"}:
            raise InputError(f"{place}: {name!r} must have stdin and stdout, both strings, and nothing else.")
        for key, text in case.items():
            check_type(text, str, f"{name}.{key}", place)
        yield StdinCase(**case)


def _check(task: CodingTask, place: str) -> None:
    """Refuse what cannot be asked or scored."""
    if not task.id.strip() or not task.prompt.strip():
        raise InputError(f"{place}: 'id' and 'prompt' must not be empty.")
    if task.task not in WORK:
        raise InputError(f"{place}: 'task' is {task.task!r}, which is none of {', '.join(WORK)}.")
    judged = [name for name in ("tests", "cases", "unittest", "checker") if getattr(task, name)]
    if len(judged) != 1:
        which = f"{' and '.join(judged)}, and may have one of them" if judged else "none: nothing is scored"
        raise InputError(f"{place}: 'tests', 'cases', 'unittest', 'checker': the row has {which}.")
    script = "cases" if task.cases else "checker" if task.checker else ""
    if script and (task.entry_point or task.driver or task.setup or task.test_setup):
        raise InputError(f"{place}: {script!r}: a script has no entry_point, driver, setup or test_setup.")
    if not script and not task.entry_point:
        raise InputError(f"{place}: 'entry_point' is missing: the name that the answer must define.")
    if task.entry_point and not task.entry_point.isidentifier():
        raise InputError(f"{place}: 'entry_point' is {task.entry_point!r}, which is no Python name.")
    if task.task != "write" and not task.code.strip():
        raise InputError(f"{place}: 'code' is missing: what there is to {task.task}.")
    for name in ("setup", "driver", "test_setup", "unittest", "checker"):
        _compiles(getattr(task, name), name, place)
    if task.unittest and not names_of_tests(task.unittest):
        raise InputError(f"{place}: 'unittest' has no class with a method whose name begins with test.")
    if task.task == "speed" and (task.unittest or task.checker):
        raise InputError(f"{place}: 'task': a program to make faster is judged by tests or cases.")
    if task.unittest and task.test_setup:
        raise InputError(f"{place}: 'test_setup': all that the classes of 'unittest' need stands in there.")
    for number, test in enumerate(task.tests):
        _compiles(test, f"tests[{number}]", place)


def _compiles(code: str, name: str, place: str) -> None:
    try:
        quiet_parse(short_numbers(code))
    except (SyntaxError, ValueError) as error:
        line = f" in its line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise InputError(f"{place}: {name!r} is no Python{line}: {getattr(error, 'msg', error)}.") from None


def functions_in(code: str) -> list[str]:
    """Names of the functions that a text defines at its top level."""
    return [node.name for node in quiet_parse(code).body if isinstance(node, ast.FunctionDef)]


# -- test classes ------------------------------------------------------------------------------------

Method = ast.FunctionDef | ast.AsyncFunctionDef


def classes_with_tests(text: str) -> dict[str, list[str]]:
    """Classes at the top level of a text that have tests, each with the names of these, in order.

    Raises SyntaxError, ValueError: it is no Python.
    """
    tests_by_class: dict[str, list[str]] = {}
    for node in quiet_parse(text).body:
        if isinstance(node, ast.ClassDef):
            tests = list(dict.fromkeys(method.name for method in tests_of_class(node)))
            if tests:
                tests_by_class[node.name] = tests
    return tests_by_class


def names_of_tests(text: str) -> list[str]:
    """The tests of a text: ``Class.test``."""
    return [f"{name}.{test}" for name, tests in classes_with_tests(text).items() for test in tests]


def tests_of_class(node: ast.ClassDef) -> Iterator[Method]:
    """The tests among the methods of a class, in order."""
    for method in node.body:
        if isinstance(method, Method) and method.name.startswith("test"):
            yield method
