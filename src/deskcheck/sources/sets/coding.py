"""Tasks whose answer is a program, and the form of their rows.

A row is a JSON object in a file of `rows.FORMATS`. `FIELDS` lists its fields, and
docs/reference/benchmarks.md describes them for users. `coding_sets` converts published sets to this form.
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
"""Kinds of work. Those after ``write`` start from the task's code; for ``speed`` this code is right but
slow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StdinCase:
    """A run of a script."""

    stdin: str
    """The text that the script reads."""
    stdout: str
    """The text that it must print."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingTask:
    """A task whose answer is a program: a function, a class or a script."""

    id: str
    prompt: str
    """The instruction in words."""
    task: str = "write"
    """One of `WORK`."""
    code: str = ""
    """The code to complete, repair, edit or make faster."""
    history: tuple[str, ...] = ()
    """Earlier versions of the code, oldest first."""
    entry_point: str | None = None
    """The name that the answer must define; None for a script."""
    visible_tests: tuple[str, ...] = ()
    """Tests that the prompt shows."""
    setup: str = ""
    """Code that runs before the answer and before the tests, such as imports."""
    driver: str = ""
    """Code that runs after the answer, in its process. It may call the answer; tests may call its
    functions."""
    test_setup: str = ""
    """Code that runs before the tests, in their process."""
    tests: tuple[str, ...] = ()
    """Python texts. A test passes if it raises nothing."""
    cases: tuple[StdinCase, ...] = ()
    """Runs of a script, instead of tests."""
    unittest: str = ""
    """A text with test classes that run in the process of the answer, instead of tests."""
    checker: str = ""
    """Python that raises if the output of a script without input (``printed``) is wrong, instead of tests. It
    runs in another process of the same environment."""
    reference: str | None = None
    """A complete right answer."""
    known_bad: tuple[str, ...] = ()
    """Wrong answers."""
    modules: tuple[str, ...] = ()
    """Modules that must be installed."""
    environment: str | None = None
    """Name of the environment (`deskcheck env`) that answers run in; None for the one of deskcheck."""
    parts: dict[str, str] = field(default_factory=dict)
    """Name -> code that replaces a part of the answer, so that the tests judge only the other parts."""
    family: str | None = None
    """Tasks of the same family are not independent observations."""


_REQUIRED: dict[str, type] = {"id": str, "prompt": str}
_TEXTS = [f.name for f in fields(CodingTask) if f.type in (str, str | None) and f.name not in _REQUIRED]
_LISTS = [f.name for f in fields(CodingTask) if f.type == tuple[str, ...]]
FIELDS = (*_REQUIRED, *_TEXTS, *_LISTS, "cases")
HOLDS = (
    "A row of a benchmark of programs has id and prompt, and tests, cases, unittest or checker; it may have "
    f"{', '.join(FIELDS)}."
)


def read_coding_tasks(path: Path, display_path: str) -> Iterator[CodingTask]:
    """The tasks of a user's file. display_path: its path as the user wrote it.

    Raises InputError, with line and field, for a row of another form, and for an id that occurs twice.
    """
    places: dict[str, str] = {}
    for location, row in read_rows(path, display_path, HOLDS):
        task = _task_of(row, location)
        if task.id in places:
            raise InputError(f"{location}: 'id': {places[task.id]} also has the id {task.id!r}.")
        places[task.id] = location
        yield task


def _task_of(row: Row, location: str) -> CodingTask:
    check_fields(row, _REQUIRED, location, HOLDS)
    unknown = sorted(row.keys() - {*FIELDS})
    if unknown:
        raise InputError(f"{location}: {unknown[0]!r} is not a field of such a row. {HOLDS}")
    values: dict[str, Any] = {name: row[name] for name in _REQUIRED}
    for name in _TEXTS:
        if row.get(name) is not None:
            check_type(row[name], str, name, location)
            values[name] = row[name]
    for name in _LISTS:
        if row.get(name) is not None:
            values[name] = _texts(row[name], name, location)
    if row.get("cases") is not None:
        values["cases"] = tuple(_cases(row["cases"], location))
    task = CodingTask(**values)
    _check(task, location)
    return task


def _texts(value: object, name: str, location: str) -> tuple[str, ...]:
    check_type(value, list, name, location)
    assert isinstance(value, list)
    for number, text in enumerate(value):
        check_type(text, str, f"{name}[{number}]", location)
    return tuple(value)


def _cases(value: object, location: str) -> Iterator[StdinCase]:
    check_type(value, list, "cases", location)
    assert isinstance(value, list)
    for number, case in enumerate(value):
        name = f"cases[{number}]"
        check_type(case, dict, name, location)
        if set(case) != {"stdin", "stdout"}:
            raise InputError(
                f"{location}: {name!r} must have stdin and stdout, both strings, and nothing else."
            )
        for key, text in case.items():
            check_type(text, str, f"{name}.{key}", location)
        yield StdinCase(**case)


def _check(task: CodingTask, location: str) -> None:
    """Refuse a task that cannot be asked or scored."""
    if not task.id.strip() or not task.prompt.strip():
        raise InputError(f"{location}: 'id' and 'prompt' must not be empty.")
    if task.task not in WORK:
        raise InputError(f"{location}: 'task' is {task.task!r}. It must be one of {', '.join(WORK)}.")
    judged = [name for name in ("tests", "cases", "unittest", "checker") if getattr(task, name)]
    if len(judged) != 1:
        which = f"{' and '.join(judged)}, but only one is allowed" if judged else "none"
        raise InputError(f"{location}: 'tests', 'cases', 'unittest', 'checker': the row has {which}.")
    script = "cases" if task.cases else "checker" if task.checker else ""
    if script and (task.entry_point or task.driver or task.setup or task.test_setup):
        raise InputError(f"{location}: {script!r}: a script has no entry_point, driver, setup or test_setup.")
    if not script and not task.entry_point:
        raise InputError(f"{location}: 'entry_point' is missing: the name that the answer must define.")
    if task.entry_point and not task.entry_point.isidentifier():
        raise InputError(f"{location}: 'entry_point' is {task.entry_point!r}, not a Python name.")
    if task.task != "write" and not task.code.strip():
        raise InputError(
            f"{location}: 'code' is missing: give the program to "
            f"{'make faster' if task.task == 'speed' else task.task}."
        )
    for name in ("setup", "driver", "test_setup", "unittest", "checker"):
        _compiles(getattr(task, name), name, location)
    if task.unittest and not names_of_tests(task.unittest):
        raise InputError(f"{location}: 'unittest' has no class with a method whose name begins with test.")
    if task.task == "speed" and (task.unittest or task.checker):
        raise InputError(f"{location}: 'task': a program to make faster is judged by tests or cases.")
    if task.unittest and task.test_setup:
        raise InputError(
            f"{location}: 'test_setup': put everything that the classes of 'unittest' need into 'unittest'."
        )
    for number, test in enumerate(task.tests):
        _compiles(test, f"tests[{number}]", location)


def _compiles(code: str, name: str, location: str) -> None:
    try:
        quiet_parse(short_numbers(code))
    except (SyntaxError, ValueError) as error:
        line = f" in its line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise InputError(
            f"{location}: {name!r} is not Python{line}: {getattr(error, 'msg', error)}."
        ) from None


def functions_in(code: str) -> list[str]:
    """Names of the functions that a text defines at its top level."""
    return [node.name for node in quiet_parse(code).body if isinstance(node, ast.FunctionDef)]


# -- test classes ------------------------------------------------------------------------------------

Method = ast.FunctionDef | ast.AsyncFunctionDef


def classes_with_tests(text: str) -> dict[str, list[str]]:
    """Top-level classes with tests -> the names of their tests, in order.

    Raises SyntaxError or ValueError if the text is not Python.
    """
    tests_by_class: dict[str, list[str]] = {}
    for node in quiet_parse(text).body:
        if isinstance(node, ast.ClassDef):
            tests = list(dict.fromkeys(method.name for method in tests_of_class(node)))
            if tests:
                tests_by_class[node.name] = tests
    return tests_by_class


def names_of_tests(text: str) -> list[str]:
    """The tests of a text, as ``Class.test``."""
    return [f"{name}.{test}" for name, tests in classes_with_tests(text).items() for test in tests]


def tests_of_class(node: ast.ClassDef) -> Iterator[Method]:
    """The tests among the methods of a class, in order."""
    for method in node.body:
        if isinstance(method, Method) and method.name.startswith("test"):
            yield method
