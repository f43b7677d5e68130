"""Published sets whose tests are test classes that run in the process of the answer (`CodingTask.unittest`).

BigCodeBench (Zhuo et al. 2024, arXiv:2406.15877), ClassEval (Du et al. 2023, arXiv:2308.01861) and
NaturalCodeBench (Zhang et al. 2024, arXiv:2405.04520). The last two have no licence that allows
redistribution, so they are read from a user's copy. Not covered: tests of NaturalCodeBench that use fixtures
of pytest or read data files, and languages other than Python.
"""

import ast
import re
import sys
from collections.abc import Callable

from deskcheck.recording import InputError
from deskcheck.sources.sets.coding import CodingTask, names_of_tests, tests_of_class
from deskcheck.sources.text.python import defined, imported_modules, quiet_parse
from deskcheck.sources.text.rows import Row


def bigcodebench(name: str) -> Callable[[Row, str], CodingTask]:
    """The reader of rows for ``bigcodebench``, whose tasks complete a function, or
    ``bigcodebench_instruct``."""

    def to_task(row: Row, location: str) -> CodingTask:
        head, reference = row["complete_prompt"], row["complete_prompt"] + row["canonical_solution"]
        complete = name == "bigcodebench"
        return CodingTask(
            id=f"{name}/{row['task_id'].rpartition('/')[2]}",
            prompt="Complete the function as its docstring says." if complete else row["instruct_prompt"],
            task="complete" if complete else "write",
            code=head if complete else "",
            entry_point=row["entry_point"],
            setup=head_of(head, reference, row["entry_point"]),
            unittest=_with_tests(row["test"], location),
            reference=reference,
            modules=needed(reference, row["test"]),
        )

    return to_task


def classeval(row: Row, location: str) -> CodingTask:
    imports = "\n".join(row["import_statement"])
    return CodingTask(
        id=f"classeval/{row['task_id'].rpartition('_')[2]}",
        prompt="Complete the class: each method does what its docstring says.",
        task="complete",
        code=row["skeleton"],
        entry_point=row["class_name"],
        setup=imports,
        unittest=_with_tests(row["test"], location),
        reference=row["solution_code"],
        modules=needed(imports, row["solution_code"], row["test"]),
    )


_FENCE = re.compile(r"```\w*\n(.*)```", re.DOTALL)
_SHOWN = "The generated code should not contain any test cases:"


def naturalcodebench(row: Row, location: str) -> CodingTask | None:
    """The task of a row; None if its tests use fixtures of pytest."""
    fenced = _FENCE.search(row["reference_solution"])
    reference = fenced.group(1) if fenced else row["reference_solution"]
    tests = f"{row['setup_code']}\n{row['testcases']}".lstrip("\n")
    if _uses_fixtures(tests):
        return None
    used = {node.id for node in ast.walk(quiet_parse(tests)) if isinstance(node, ast.Name)}
    entry = next((name for name in defined(quiet_parse(reference).body) if name in used), None)
    if entry is None:
        raise InputError(f"{location}: 'testcases' does not use any name that the reference defines.")
    _, _, visible_tests = row["prompt"].partition(_SHOWN)
    return CodingTask(
        id=f"naturalcodebench/{row['_id']}",
        prompt=row["problem"],
        entry_point=entry,
        visible_tests=(visible_tests.strip(),) if visible_tests.strip() else (),
        unittest=_with_tests(tests, location),
        reference=reference,
        modules=needed(reference, tests),
    )


def _uses_fixtures(tests: str) -> bool:
    """Whether a test has parameters besides `self`, or a decorator of pytest."""
    for node in quiet_parse(tests).body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            return True
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and "pytest" in "".join(
                    ast.unparse(mark) for mark in method.decorator_list
                ):
                    return True
            if any(len(method.args.args) > 1 for method in tests_of_class(node)):
                return True
    return False


def _with_tests(tests: str, location: str) -> str:
    """The text of tests. Raises InputError if it has no test class."""
    if not names_of_tests(tests):
        raise InputError(f"{location}: the tests have no class with a method whose name begins with test.")
    return tests


def needed(*codes: str) -> tuple[str, ...]:
    """Modules that the texts import, except those of the standard library."""
    modules = {name for code in codes for name in imported_modules(quiet_parse(code))}
    return tuple(sorted(modules - sys.stdlib_module_names))


def head_of(head: str, code: str, *names: str) -> str:
    """The top-level statements of `code` that end in its first part, `head`, except definitions of
    `names`."""
    lines = len(head.splitlines())
    body = [node for node in quiet_parse(code).body if (node.end_lineno or 0) <= lines]
    statements = [node for node in body if getattr(node, "name", None) not in names]
    return "\n".join(ast.get_source_segment(code, node) or "" for node in statements)
