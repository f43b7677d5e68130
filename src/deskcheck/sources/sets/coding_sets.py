"""Published sets of programming tasks in their own formats, as `CodingTask`.

All are evaluation sets, which must not be used for training. A check that is one function with many asserts
becomes one test for each of its statements. The tests run in order in one namespace, so all of them pass
exactly if the function does, and the number of passed tests is known.

`class_sets` has the sets whose tests are classes, `evalplus` those with inputs and a reference. Not covered:
tests in languages other than Python, and CoderEval, whose tests are only in its Docker image.
"""

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import indent

from deskcheck.recording import InputError
from deskcheck.sources.sets.class_sets import bigcodebench, classeval, head_of, naturalcodebench
from deskcheck.sources.sets.coding import CodingTask
from deskcheck.sources.sets.cp_bench import cp_bench
from deskcheck.sources.sets.evalplus import humaneval_plus, mbpp_plus
from deskcheck.sources.sets.hub import fetch
from deskcheck.sources.sets.published import PUBLISHED
from deskcheck.sources.sets.sets import facts_of_sets, fields_of
from deskcheck.sources.text.python import defined, quiet_parse, unix_lines
from deskcheck.sources.text.rows import FORMATS, Row, check_fields, has_format, read_rows
from deskcheck.sources.text.shipped import shipped

ToTask = Callable[[Row, str], CodingTask | None]
"""(row, location for messages) -> the task; None for a row that cannot be scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingSet:
    """A published set; shipped/sets.toml explains the fields."""

    title: str
    about: str
    home: str
    required: Mapping[str, type]
    to_task: ToTask
    fetched: str | None = None
    tests_of: str | None = None

    @property
    def holds(self) -> str:
        return f"A row of {self.title} has {', '.join(self.required)}."


def read_coding_set(name: str, file: str | None, *, note: Callable[[str], None]) -> Iterator[CodingTask]:
    """The tasks of a set from a file, or fetched if `file` is None.

    Raises InputError if the file does not exist, a row does not belong to the set, or the set cannot be
    fetched.
    """
    chosen = CODING_SETS[name]
    if file is None:
        if chosen.fetched is None:
            raise InputError(f"{name}: give its file, {name}:PATH. It is published at {chosen.home}.")
        hub = PUBLISHED[chosen.fetched].hub
        assert hub is not None, chosen.fetched
        paths = fetch(hub, chosen.fetched, note=note)
    else:
        paths = [Path(os.path.expanduser(file))]
        if not paths[0].is_file() or not has_format(paths[0]):
            raise InputError(
                f"{name}:{file}: {file} is not a file of {chosen.title}: write {name}:PATH with a path to "
                f"a file in one of the formats {', '.join(FORMATS)}. It is published at {chosen.home}."
            )
    others = {} if chosen.tests_of is None else _tasks_with_tests(name, chosen.tests_of, paths[0], note)
    for path in paths:
        for location, row in read_rows(path, file or str(path), chosen.holds):
            check_fields(row, chosen.required, location, chosen.holds)
            if chosen.tests_of is not None:
                if row["task_id"] not in others:
                    raise InputError(
                        f"{location}: 'task_id': {chosen.tests_of} has no task {row['task_id']!r}."
                    )
                row = row | {"tests": others[row["task_id"]]}
            try:
                task = chosen.to_task(row, location)
            except (SyntaxError, ValueError) as error:
                raise InputError(
                    f"{location}: has no valid Python where {chosen.title} has it: {error}."
                ) from None
            if task is not None:
                yield task


def _tasks_with_tests(
    name: str, tests_set: str, path: Path, note: Callable[[str], None]
) -> dict[str, CodingTask]:
    """The tasks of the set that has the tests, from its file beside `path`, or fetched."""
    title = CODING_SETS[tests_set].title
    file = next((candidate for end in FORMATS if (candidate := path.with_name(title + end)).is_file()), None)
    try:
        return {t.id: t for t in read_coding_set(tests_set, None if file is None else str(file), note=note)}
    except InputError as error:
        raise InputError(
            f"{name}: needs {title} for its tests, as {title}.jsonl beside {path}: {error}"
        ) from None


# -- HumanEval and its kin ---------------------------------------------------------------------------


def _tests_of(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Statements as tests. A statement without an assert belongs to the next one with an assert."""
    before: list[str] = []
    for statement in body:
        if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Constant):
            continue  # assert True: passed by every answer
        before.append(ast.unparse(statement))
        if any(isinstance(node, ast.Assert) for node in ast.walk(statement)):
            yield "\n".join(before)
            before = []


def _check_parts(test: str, entry: str) -> tuple[str, tuple[str, ...]]:
    """Setup and tests of a text that defines ``check(candidate)``."""
    tree = quiet_parse(test)
    (check,) = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "check")
    (parameter,) = check.args.args
    setup_nodes = [node for node in tree.body if node is not check and not _calls_check(node)]
    setup = "\n".join(ast.unparse(node) for node in setup_nodes)
    tests = list(_tests_of(check.body))
    if parameter.arg != entry:
        tests = [f"{parameter.arg} = {entry}\n{text}" for text in tests]
    return setup, tuple(tests)


def _calls_check(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"


def _humaneval(row: Row, location: str) -> CodingTask:
    head = row["prompt"]
    task = _completion(
        row["task_id"], head, row["entry_point"], row["test"], head + row["canonical_solution"]
    )
    return replace(task, reference=head + row["canonical_solution"])


def _completion(task_id: str, head: str, entry: str, test: str, complete_code: str) -> CodingTask:
    """A task to complete a function, with a check. complete_code: the head with any body."""
    test_setup, tests = _check_parts(test, entry)
    return CodingTask(
        id=task_id,
        prompt="Complete the function as its docstring says.",
        task="complete",
        code=head,
        entry_point=entry,
        setup=head_of(head, complete_code, entry),
        test_setup=test_setup,
        tests=tests,
    )


def _humanevalfix(row: Row, location: str) -> CodingTask:
    head, task_id = row["declaration"], f"humanevalfix/{row['task_id'].rpartition('/')[2]}"
    reference, bad = head + row["canonical_solution"], head + row["buggy_solution"]
    return replace(
        _completion(task_id, head, row["entry_point"], row["test"], reference),
        prompt=f"The function must do this:\n{row['docstring'].strip()}",
        task="repair",
        code=bad,
        reference=reference,
        known_bad=(bad,),
    )


def _apeval(row: Row, location: str) -> CodingTask:
    base_task: CodingTask = row["tests"]
    check_fields(row["current"], {"code": str}, f"{location}: 'current'", "It has the code.")
    for number, version in enumerate(row["history"]):
        check_fields(version, {"code": str}, f"{location}: 'history'[{number}]", "It has the code.")
    code = row["current"]["code"]
    words = [row["user"].strip() or "Go on with the code as its history lets expect."]
    if code.strip() and (area := _area(code, row.get("area"))):
        words.append(area)
    return replace(
        base_task,
        id=f"apeval/{row['task_id'].rpartition('/')[2]}",
        prompt="\n".join(words),
        task="edit" if code.strip() else "write",
        code=code if code.strip() else "",
        history=tuple(version["code"] for version in row["history"]),
    )


def _area(code: str, area: object) -> str:
    """A sentence about the position of the cursor, or about the selected text."""
    match area:
        case int(at):
            return f"The cursor stands at {_place(code, at)}."
        case [int(first), int(last)]:
            return f"Selected is what stands from {_place(code, first)} to {_place(code, last)}."
    return ""


def _place(code: str, offset: int) -> str:
    before = code[:offset]
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


# -- MBPP --------------------------------------------------------------------------------------------


def _mbpp(row: Row, location: str) -> CodingTask:
    """The task of a row of MBPP.

    Asserts run in the process of the tests and call the function from there. If arguments are objects of
    classes that the answer defines, the process of the answer makes the call, and only its value is compared
    outside.
    """
    code, setup = unix_lines(row["code"]), unix_lines(row.get("test_setup_code") or "")
    imports = "\n".join(row.get("test_imports") or [])
    asserts = [unix_lines(test) for test in row["test_list"]]
    defined_names = set(defined(quiet_parse(code).body)) | set(defined(quiet_parse(setup).body))
    entry = _entry(asserts[0], defined_names)
    if entry is None:
        raise InputError(
            f"{location}: 'test_list': its first assert does not call a function that 'code' defines."
        )
    classes = {n.name for n in quiet_parse(code).body if isinstance(n, ast.ClassDef)}
    theirs = classes | set(defined(quiet_parse(setup).body))
    driver, tests = "", tuple(asserts)
    if any(_names(test) & (theirs - {entry}) for test in asserts):
        driver, tests = _driven(asserts, setup)
        setup = ""
    return CodingTask(
        id=f"mbpp/{row['task_id']}",
        prompt=row["text"] if "text" in row else row["prompt"],
        entry_point=entry,
        visible_tests=(asserts[0],),
        driver=driver,
        test_setup=f"{imports}\n{setup}".strip(),
        tests=tests,
        reference=code,
    )


def _names(code: str) -> set[str]:
    return {node.id for node in ast.walk(quiet_parse(code)) if isinstance(node, ast.Name)}


def _entry(test: str, defined_names: set[str]) -> str | None:
    """The outermost call in an assert to a defined name; None if there is none."""
    calls = [
        n.func.id
        for n in ast.walk(quiet_parse(test))
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    ]
    return next((name for name in calls if name in defined_names), None)


def _driven(asserts: list[str], setup: str) -> tuple[str, tuple[str, ...]]:
    """The left sides of asserts as functions for the answer's process, and the asserts that call them."""
    functions, tests = [setup], []
    for number, text in enumerate(asserts, 1):
        (node,) = quiet_parse(text).body
        if not isinstance(node, ast.Assert) or not isinstance(node.test, ast.Compare):
            raise ValueError(f"an assert without a comparison: {text}")
        left_side, node.test.left = node.test.left, ast.parse(f"case_{number}()", mode="eval").body
        functions.append(f"def case_{number}():\n{indent('return ' + ast.unparse(left_side), '    ')}")
        tests.append(ast.unparse(node))
    return "\n".join(functions), tuple(tests)


# -- HumanEval Pro and MBPP Pro ----------------------------------------------------------------------


def _pro(name: str) -> Callable[[Row, str], CodingTask]:
    def to_task(row: Row, location: str) -> CodingTask:
        base = row["raw_problem"] + row["raw_solution"]
        new_code = row["new_problem"] + row["new_solution"]
        first = _last_function(row["raw_problem"])
        entry = _entry(row["test_code"], set(defined(quiet_parse(f"{base}\n\n{new_code}").body)))
        if entry is None:
            raise InputError(f"{location}: 'test_code' does not call a function that the solution defines.")
        return CodingTask(
            id=f"{name}/{row['id']}",
            prompt=(
                f"Write two functions: {first} for the first problem, and {entry} for the second, which uses "
                f"{first}."
            ),
            task="complete",
            code=f"{row['raw_problem'].rstrip()}\n\n\n{row['new_problem'].strip()}",
            entry_point=entry,
            setup=head_of(row["raw_problem"], base, first),
            test_setup=_imports(f"{base}\n\n{new_code}"),
            tests=tuple(_tests_of(quiet_parse(row["test_code"]).body)),
            reference=f"{base}\n\n{new_code}",
            parts={"base_right": head_of(new_code, new_code, first), "new_right": base},
        )

    return to_task


def _imports(code: str) -> str:
    """The imports of the code. Some tests use a module that only the solution imports."""
    body = quiet_parse(code).body
    return "\n".join(ast.unparse(node) for node in body if isinstance(node, (ast.Import, ast.ImportFrom)))


def _last_function(head: str) -> str:
    names = re.findall(r"^def\s+(\w+)", head, re.MULTILINE)
    if not names:
        raise ValueError("a problem without a function")
    return str(names[-1])


# -- MultiPL-E ---------------------------------------------------------------------------------------


def _multipl_e(row: Row, location: str) -> CodingTask:
    """The task of a Python row of MultiPL-E, which has no reference."""
    if row["language"] != "py":
        raise InputError(
            f"{location}: 'language' is {row['language']!r}: answers are run in Python (py) only."
        )
    tree = quiet_parse(row["tests"])
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _calls_check(ast.Expr(node))]
    if len(calls) != 1 or len(calls[0].args) != 1 or not isinstance(calls[0].args[0], ast.Name):
        raise InputError(f"{location}: 'tests' must call check once, with the function.")
    entry = calls[0].args[0].id
    tree.body = [
        node
        for node in tree.body
        if not isinstance(node, ast.Expr) and getattr(node, "name", None) != "test_check"
    ]
    head = row["prompt"]
    return _completion(f"multipl_e/{row['name']}", head, entry, ast.unparse(tree), f"{head}    pass\n")


# -- P3 ----------------------------------------------------------------------------------------------

_LONG = "import sys\nsys.set_int_max_str_digits(0)"
_SUPPORT = "from typing import *"


def _p3(row: Row, location: str) -> CodingTask | None:
    if not row["sol_bodies"]:
        return None
    header = row["sol_header"]
    words = f"\n{row['sol_docstring']}" if row["sol_docstring"] else ""
    return CodingTask(
        id=f"p3/{row['name']}",
        prompt=(
            f"Write a function sol that returns a value of type {row['ans_type']} for which sat(sol()) is "
            "True. Its parameters are optional."
        ),
        task="complete",
        code=f"{row['sat']}\n\n\n{header}{words}",
        entry_point="sol",
        setup=f"{_LONG}\n{_SUPPORT}",
        test_setup=f"{shipped('p3.py')}\n{row['sat']}",
        tests=(f"answer = sol()\nassert is_of(answer, {row['ans_type']!r})\nassert sat(answer) is True",),
        reference=f"{header}\n{row['sol_bodies'][0]}",
        family=f"p3/{row['name'].partition(':')[0]}",
    )


_TASKS: Mapping[str, ToTask] = {
    "humaneval": _humaneval,
    "mbpp": _mbpp,
    "humaneval_pro": _pro("humaneval_pro"),
    "mbpp_pro": _pro("mbpp_pro"),
    "humanevalfix": _humanevalfix,
    "apeval": _apeval,
    "p3": _p3,
    "humaneval_plus": humaneval_plus,
    "mbpp_plus": mbpp_plus,
    "multipl_e": _multipl_e,
    "bigcodebench": bigcodebench("bigcodebench"),
    "bigcodebench_instruct": bigcodebench("bigcodebench_instruct"),
    "classeval": classeval,
    "naturalcodebench": naturalcodebench,
    "cp_bench": cp_bench,
}
CODING_SETS: Mapping[str, CodingSet] = {
    name: CodingSet(required=fields_of(facts.pop("fields")), to_task=_TASKS[name], **facts)
    for name, facts in facts_of_sets("tasks").items()
}
"""Name -> the set."""
