"""Published sets of programming tasks in their own formats, as `CodingTask`.

All are evaluation sets: nothing of them is for training. A check that is one function with many asserts
becomes one test for each of its statements, which run in their order in one namespace: all of them pass
exactly where the function does, and how many pass is known.

Sets whose tests are classes stand in `class_sets`, those with inputs and a reference in `evalplus`. Not
covered: tests in other languages than Python, and CoderEval, whose files have no tests: they lie in its
Docker image.
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
"""(row, place for messages) -> the task; None for a row that cannot be scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingSet:
    """A published set; shipped/sets.toml says what the fields are."""

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
    """The tasks of a set: of the given file, or (None) fetched, where the set can be.

    Raises InputError: no such file, a row that is not one of this set, or none can be fetched.
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
                f"{name}:{file}: {file} is no {chosen.title} file here: write {name}:PATH with a path to "
                f"a file in one of the formats {', '.join(FORMATS)}. It is published at {chosen.home}."
            )
    others = {} if chosen.tests_of is None else _tasks_with_tests(name, chosen.tests_of, paths[0], note)
    for path in paths:
        for place, row in read_rows(path, file or str(path), chosen.holds):
            check_fields(row, chosen.required, place, chosen.holds)
            if chosen.tests_of is not None:
                if row["task_id"] not in others:
                    raise InputError(f"{place}: 'task_id': {chosen.tests_of} has no task {row['task_id']!r}.")
                row = row | {"tests": others[row["task_id"]]}
            try:
                task = chosen.to_task(row, place)
            except (SyntaxError, ValueError) as error:
                raise InputError(
                    f"{place}: holds no Python where {chosen.title} has some: {error}."
                ) from None
            if task is not None:
                yield task


def _tasks_with_tests(
    name: str, other: str, path: Path, note: Callable[[str], None]
) -> dict[str, CodingTask]:
    """The tasks of the set that has the tests: from its file beside another, or fetched."""
    title = CODING_SETS[other].title
    file = next((found for end in FORMATS if (found := path.with_name(title + end)).is_file()), None)
    try:
        return {t.id: t for t in read_coding_set(other, None if file is None else str(file), note=note)}
    except InputError as error:
        raise InputError(
            f"{name}: needs {title} for its tests, as {title}.jsonl beside {path}: {error}"
        ) from None


# -- HumanEval and its kin ---------------------------------------------------------------------------


def _tests_of(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Statements as tests; what asserts nothing goes with the next that does."""
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
    rest = [node for node in tree.body if node is not check and not _calls_check(node)]
    setup = "\n".join(ast.unparse(node) for node in rest)
    tests = list(_tests_of(check.body))
    if parameter.arg != entry:
        tests = [f"{parameter.arg} = {entry}\n{text}" for text in tests]
    return setup, tuple(tests)


def _calls_check(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"


def _humaneval(row: Row, place: str) -> CodingTask:
    head = row["prompt"]
    task = _completion(
        row["task_id"], head, row["entry_point"], row["test"], head + row["canonical_solution"]
    )
    return replace(task, reference=head + row["canonical_solution"])


def _completion(id_: str, head: str, entry: str, test: str, whole: str) -> CodingTask:
    """A function to complete, with a check. whole: its head with any body."""
    test_setup, tests = _check_parts(test, entry)
    return CodingTask(
        id=id_,
        prompt="Complete the function as its docstring says.",
        task="complete",
        code=head,
        entry_point=entry,
        setup=head_of(head, whole, entry),
        test_setup=test_setup,
        tests=tests,
    )


def _humanevalfix(row: Row, place: str) -> CodingTask:
    head, id_ = row["declaration"], f"humanevalfix/{row['task_id'].rpartition('/')[2]}"
    reference, bad = head + row["canonical_solution"], head + row["buggy_solution"]
    return replace(
        _completion(id_, head, row["entry_point"], row["test"], reference),
        prompt=f"The function must do this:\n{row['docstring'].strip()}",
        task="repair",
        code=bad,
        reference=reference,
        known_bad=(bad,),
    )


def _apeval(row: Row, place: str) -> CodingTask:
    whole: CodingTask = row["tests"]
    check_fields(row["current"], {"code": str}, f"{place}: 'current'", "It has the code.")
    for number, version in enumerate(row["history"]):
        check_fields(version, {"code": str}, f"{place}: 'history'[{number}]", "It has the code.")
    code = row["current"]["code"]
    words = [row["user"].strip() or "Go on with the code as its history lets expect."]
    if code.strip() and (area := _area(code, row.get("area"))):
        words.append(area)
    return replace(
        whole,
        id=f"apeval/{row['task_id'].rpartition('/')[2]}",
        prompt="\n".join(words),
        task="edit" if code.strip() else "write",
        code=code if code.strip() else "",
        history=tuple(version["code"] for version in row["history"]),
    )


def _area(code: str, area: object) -> str:
    """Where the cursor stands, or what is selected: a place in the code, or two."""
    match area:
        case int(at):
            return f"The cursor stands at {_place(code, at)}."
        case [int(first), int(last)]:
            return f"Selected is what stands from {_place(code, first)} to {_place(code, last)}."
    return ""


def _place(code: str, at: int) -> str:
    before = code[:at]
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


# -- MBPP --------------------------------------------------------------------------------------------


def _mbpp(row: Row, place: str) -> CodingTask:
    """Asserts call the function from beside it. Where arguments are objects of the answer's own classes,
    the call is made in the answer's process, and its value is compared beside it."""
    code, setup = unix_lines(row["code"]), unix_lines(row.get("test_setup_code") or "")
    imports = "\n".join(row.get("test_imports") or [])
    asserts = [unix_lines(test) for test in row["test_list"]]
    own = set(defined(quiet_parse(code).body)) | set(defined(quiet_parse(setup).body))
    entry = _entry(asserts[0], own)
    if entry is None:
        raise InputError(f"{place}: 'test_list': its first assert calls nothing that 'code' defines.")
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


def _entry(test: str, own: set[str]) -> str | None:
    """The first function of the code that an assert calls, from the outside in."""
    calls = [
        n.func.id
        for n in ast.walk(quiet_parse(test))
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    ]
    return next((name for name in calls if name in own), None)


def _driven(asserts: list[str], setup: str) -> tuple[str, tuple[str, ...]]:
    """Left sides of asserts as functions for the answer's process; the asserts with calls of these."""
    functions, tests = [setup], []
    for number, text in enumerate(asserts, 1):
        (node,) = quiet_parse(text).body
        if not isinstance(node, ast.Assert) or not isinstance(node.test, ast.Compare):
            raise ValueError(f"an assert that compares nothing: {text}")
        left, node.test.left = node.test.left, ast.parse(f"case_{number}()", mode="eval").body
        functions.append(f"def case_{number}():\n{indent('return ' + ast.unparse(left), '    ')}")
        tests.append(ast.unparse(node))
    return "\n".join(functions), tuple(tests)


# -- HumanEval Pro and MBPP Pro ----------------------------------------------------------------------


def _pro(name: str) -> Callable[[Row, str], CodingTask]:
    def to_task(row: Row, place: str) -> CodingTask:
        base = row["raw_problem"] + row["raw_solution"]
        own = row["new_problem"] + row["new_solution"]
        first = _last_function(row["raw_problem"])
        entry = _entry(row["test_code"], set(defined(quiet_parse(f"{base}\n\n{own}").body)))
        if entry is None:
            raise InputError(f"{place}: 'test_code' calls nothing that the solution defines.")
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
            test_setup=_imports(f"{base}\n\n{own}"),
            tests=tuple(_tests_of(quiet_parse(row["test_code"]).body)),
            reference=f"{base}\n\n{own}",
            parts={"base_right": head_of(own, own, first), "new_right": base},
        )

    return to_task


def _imports(code: str) -> str:
    """Its imports: some tests use a module that only the solution imports."""
    body = quiet_parse(code).body
    return "\n".join(ast.unparse(node) for node in body if isinstance(node, (ast.Import, ast.ImportFrom)))


def _last_function(head: str) -> str:
    names = re.findall(r"^def\s+(\w+)", head, re.MULTILINE)
    if not names:
        raise ValueError("a problem without a function")
    return str(names[-1])


# -- MultiPL-E ---------------------------------------------------------------------------------------


def _multipl_e(row: Row, place: str) -> CodingTask:
    """A row of MultiPL-E's Python; it has no reference."""
    if row["language"] != "py":
        raise InputError(f"{place}: 'language' is {row['language']!r}: answers are run in Python (py) only.")
    tree = quiet_parse(row["tests"])
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _calls_check(ast.Expr(node))]
    if len(calls) != 1 or len(calls[0].args) != 1 or not isinstance(calls[0].args[0], ast.Name):
        raise InputError(f"{place}: 'tests' must call check once, with the function.")
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


def _p3(row: Row, place: str) -> CodingTask | None:
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
