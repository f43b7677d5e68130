"""Sets of execution prediction that are neither shipped nor fetched, from the user's copy in the published
form.

They are LiveCodeBench's code execution, CRUXEval-X's Python rows, REval (`reval`), CoCoNUT's HumanEval traces
and SURGE's Python programs. Their forms are those of the loading, writing or scoring code in the set's
repository (docs/reference/published-sets.md).

The answer in a row becomes the program's `expected`, or ``published_lines`` (the executed lines, in order) or
``published_output`` (the printed text) in its `extra`. `deskcheck runs check` compares it with the recording.
"""

import ast
import itertools
import re
import symtable
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deskcheck.recording import InputError, Mode
from deskcheck.sources.sets.sets import ToPrograms, facts_of_sets, reader_of, rows_of
from deskcheck.sources.text.arguments import argument_list, parenthesised
from deskcheck.sources.text.python import quiet_parse
from deskcheck.sources.text.rows import Row

HOLE = "????"
"""The text in CRUXEval-X's checks in place of the answer."""

# -- LiveCodeBench ---------------------------------------------------------------------------------------

_IMPORTS = facts_of_sets("livecodebench")
LIVECODEBENCH_NAMES: Mapping[str, str] = {
    **{
        name: f"from {module} import {name}"
        for module, names in _IMPORTS["from"].items()
        for name in names.split()
    },
    **{name: f"import {name}" for name in _IMPORTS["modules"].split()},
    **_IMPORTS["other"],
}
"""Name -> the statement that imports it."""


@rows_of("livecodebench")
def _livecodebench(row: Row, location: str) -> Iterator[dict[str, Any]]:
    yield {
        "id": row["id"],
        "code": with_imports(row["code"], f"{location}: 'code'"),
        "mode": Mode.CALL,
        "entry": row["function_name"],
        "arguments": _arguments_of_call(row["input"], row["function_name"], f"{location}: 'input'"),
        "expected": row["output"],
        "extra": {"question_id": row["question_id"]},
    }


def with_imports(code: str, location: str) -> str:
    """The code after imports of the names that it uses without binding them, as far as the set provides them.

    Raises InputError if the code is not Python.
    """
    try:
        table = symtable.symtable(code, "<code>", "exec")
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{location}: is not Python: {error}") from error
    bound = {
        symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()
    }
    used, todo = set[str](), [table]
    while todo:
        inner = todo.pop()
        symbols = [symbol for symbol in inner.get_symbols() if symbol.is_referenced()]
        used |= {symbol.get_name() for symbol in symbols if symbol.is_global()}
        if inner is table:
            used |= {symbol.get_name() for symbol in symbols}
        todo += inner.get_children()
    imports = [line for name, line in LIVECODEBENCH_NAMES.items() if name in used - bound]
    return "".join(f"{line}\n" for line in imports) + ("\n" if imports else "") + code


def _arguments_of_call(text: str, function: str, location: str) -> str:
    """The argument list in a text that is a call of a function."""
    text = text.strip()
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{location}: is not a call of {function}: {error}") from error
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != function:
        raise InputError(f"{location}: is not a call of {function}: {text:.80}")
    return text.removeprefix(ast.get_source_segment(text, node.func) or "").strip()


# -- CRUXEval-X ------------------------------------------------------------------------------------------

_CHECK = "def check(candidate):"
_MARK = "published_hole_"


@rows_of("cruxeval_x")
def _cruxeval_x(row: Row, location: str) -> Iterator[dict[str, Any]]:
    code, separator, check = row["code"].partition(_CHECK)
    if not separator:
        raise InputError(
            f"{location}: 'code' has no {_CHECK!r}, so the row is not Python. Of CRUXEval-X only py.jsonl is "
            "read."
        )
    arguments, expected = _asserted(f"{_CHECK}{check}", f"{location}: 'code'")
    for field, hole in (("input_reasoning", (HOLE, expected)), ("output_reasoning", (arguments, HOLE))):
        if _asserted(row[field], f"{location}: {field!r}") != hole:
            raise InputError(f"{location}: {field!r} is not the check in 'code' with {HOLE} in one place.")
    yield {
        "id": f"cruxeval_x_{row['id']}",
        "code": code.rstrip() + "\n",
        "mode": Mode.CALL,
        "entry": "f",
        "arguments": parenthesised(arguments, f"{location}: 'code'"),
        "expected": expected,
    }


def _asserted(check: str, location: str) -> tuple[str, str]:
    """The text between the parentheses of ``candidate(...)``, and the text after ``==``, in the assert of a
    check."""
    text = check.replace(HOLE, _MARK)
    try:
        tree = quiet_parse(text)
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{location}: the check is not Python: {error}") from error
    tests = [node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    if len(tests) == 1 and isinstance(test := tests[0], ast.Compare) and isinstance(test.ops[0], ast.Eq):
        call = test.left
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "candidate":
            sides = ast.get_source_segment(text, call), ast.get_source_segment(text, test.comparators[0])
            left, right = (part.replace(_MARK, HOLE) for part in map(str, sides))
            return left.removeprefix("candidate").strip()[1:-1], right
    raise InputError(f"{location}: the check is not one assert candidate(...) == ...")


# -- CoCoNUT ---------------------------------------------------------------------------------------------


def published_lines(row: Row, location: str) -> list[int]:
    """The lines of a row of CoCoNUT, whose CSV file has them as the text of a list."""
    text = row["ExecutedLines"]
    if not re.fullmatch(r"\[\s*(?:\d{1,9}\s*(?:,\s*\d{1,9}\s*)*)?\]", text):
        raise InputError(f"{location}: 'ExecutedLines' is not a list of line numbers: {text:.80}")
    return [int(number) for number in re.findall(r"\d+", text)]


@reader_of("coconut")
def _coconut(path: Path, display_path: str) -> ToPrograms:
    numbers = itertools.count(1)  # the set holds some calls twice

    def to_programs(row: Row, location: str) -> Iterator[dict[str, Any]]:
        yield {
            "id": f"coconut_{next(numbers)}",
            "code": row["Code_Indices"],
            "mode": Mode.CALL,
            "entry": row["Name"],
            "arguments": argument_list(row["FunctionCall"], f"{location}: 'FunctionCall'"),
            "extra": {"task_id": row["HumanEval_ID"], "published_lines": published_lines(row, location)},
        }

    return to_programs


# -- SURGE -----------------------------------------------------------------------------------------------

EXACT_CATEGORIES = (1, 2)
"""The categories of SURGE whose answers its own code compares for equality."""


def surge_category(row: Row, location: str) -> int:
    """The category of a row. Some of the set's files misspell the key, which the set's code handles, too."""
    category = row.get("custom_category", row.get("custom_categoey"))
    if type(category) is not int:
        raise InputError(f"{location}: 'custom_category' is {category!r:.40}, not a whole number.")
    return category


@reader_of("surge")
def _surge(path: Path, display_path: str) -> ToPrograms:
    numbers = itertools.count(1)

    def to_programs(row: Row, location: str) -> Iterator[dict[str, Any]]:
        number, category = next(numbers), surge_category(row, location)
        if category not in EXACT_CATEGORIES:
            raise InputError(
                f"{location}: 'custom_category' is {category}: of SURGE only categories 1 and 2 are read."
            )
        if row["custom_features"].get("language") == "Python":
            yield {
                "id": f"surge_{path.name.partition('.')[0]}_{number}",
                "code": row["question"],
                "mode": Mode.MODULE,
                "extra": {"published_output": row["gt"]},
            }

    return to_programs
