"""Published evaluation sets in their own formats: CRUXEval, HumanEval, MBPP, and those of `predicted`.

``name:PATH`` reads the user's file. ``name`` without a path fetches the set's files from the Hugging Face
Hub, once (see `hub`), if the licence is known. All of them are evaluation sets, so `train_ok` is false for
every program, whatever the licence allows: a model that was trained on a set cannot be measured by it.

MBPP asks for attribution: "Mostly Basic Python Problems", Austin et al., Google Research, CC BY 4.0.

Not covered: variants with other keys (HumanEval+, MBPP+), and MBPP's `challenge_test_list`.
"""

import ast
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import deskcheck.sources.sets.predicted  # adds its readers
import deskcheck.sources.sets.reval  # noqa: F401  # adds its reader
from deskcheck.files import sha256
from deskcheck.recording import InputError, Mode, Program
from deskcheck.sources.sets.hub import fetch
from deskcheck.sources.sets.sets import PublishedSet, published_sets, rows_of
from deskcheck.sources.text.arguments import parenthesised
from deskcheck.sources.text.python import defined, quiet_parse, unix_lines
from deskcheck.sources.text.rows import (
    FORMATS,
    Refuse,
    Row,
    check_fields,
    check_type,
    from_rows,
    has_format,
)


def published_set(
    name: str,
    file: str | None = None,
    *,
    note: Callable[[str], None],
    endpoint: str | None = None,
    refuse: Refuse | None = None,
) -> Iterator[Program]:
    """The programs of a set, from a file or from its files on the Hub, which are fetched first.

    note: takes a sentence before a file is fetched. endpoint: see `fetch`. refuse: see `rows.from_rows`.

    Raises:
        InputError: the file does not exist, or (while iterating) a row does not belong to the set.
    """
    dataset = PUBLISHED[name]
    if file is None:
        if dataset.hub is None:
            raise InputError(
                f"{name}: is not fetched: write {name}:PATH with your copy of {dataset.title}, from "
                f"{dataset.home}."
            )
        local_files = zip(
            fetch(dataset.hub, name, note=note, endpoint=endpoint), dataset.hub.files, strict=True
        )
        return _chained(
            dataset, [(path, str(path), dataset.hub.page(hub_file)) for path, hub_file in local_files], refuse
        )
    path = Path(os.path.expanduser(file))
    if not os.path.isfile(path) or not has_format(path):
        way_out = "" if dataset.hub is None else f", or only {name} to fetch the set"
        raise InputError(
            f"{name}:{file}: {file} is not a file of {dataset.title}: write {name}:PATH with a path to a "
            "file "
            f"in one of the formats {', '.join(FORMATS)}{way_out}."
        )
    return _chained(dataset, [(path, file, _source(dataset, path, file))], refuse)


def scored_by_equality(program: Program) -> bool:
    """Whether a program has the answer of a published set, and that set scores by Python's ``==``."""
    return program.expected is not None and any(
        dataset.by_equality and program.source.startswith(dataset.address) for dataset in PUBLISHED.values()
    )


def _chained(
    dataset: PublishedSet, files: list[tuple[Path, str, str]], refuse: Refuse | None
) -> Iterator[Program]:
    for path, display_path, source in files:
        to_programs = dataset.reader(path, display_path)
        yield from from_rows(
            path, display_path, dataset.holds, partial(_made, dataset, source, to_programs), refuse
        )


def _made(
    dataset: PublishedSet,
    source: str,
    to_programs: Callable[[Row, str], Iterator[dict[str, Any]]],
    row: Row,
    location: str,
) -> Iterator[Program]:
    check_fields(row, dataset.required, location, dataset.holds)
    for fields in to_programs(row, location):
        yield Program(source=source, licence=dataset.licence, date=dataset.date, train_ok=False, **fields)


def _source(dataset: PublishedSet, path: Path, display_path: str) -> str:
    """The file's address on the Hub if the bytes are equal; otherwise the set's address and the path."""
    hub = dataset.hub
    digest = sha256(path) if hub is not None else None
    page = next((hub.page(file) for file in hub.files if file.sha256 == digest), None) if hub else None
    return page or f"{dataset.address} (as {display_path})"


@rows_of("cruxeval")
def _cruxeval(row: Row, location: str) -> Iterator[dict[str, Any]]:
    yield {
        "id": row["id"],
        "code": row["code"],
        "mode": Mode.CALL,
        "entry": "f",
        # The set asserts f(<input>) == <output>, so parentheses in the input are not those of the call.
        "arguments": parenthesised(row["input"], f"{location}: 'input'"),
        "expected": row["output"],
    }


@rows_of("humaneval")
def _humaneval(row: Row, location: str) -> Iterator[dict[str, Any]]:
    yield {
        "id": row["task_id"],
        "code": row["prompt"] + row["canonical_solution"] + "\n\n" + row["test"],
        "mode": Mode.CALL,
        "entry": "check",
        "arguments": parenthesised(row["entry_point"], f"{location}: 'entry_point'"),
        "extra": {"entry_point": row["entry_point"], "task_id": row["task_id"]},
    }


@rows_of("mbpp")
def _mbpp(row: Row, location: str) -> Iterator[dict[str, Any]]:
    setup = row.get("test_setup_code") or ""
    check_type(setup, str, "test_setup_code", location)
    imports = row.get("test_imports") or []  # instead of the setup, in the sanitized form of the set
    check_type(imports, list, "test_imports", location)
    for k, line in enumerate(imports):
        check_type(line, str, f"test_imports[{k}]", location)
    if not row["test_list"]:
        raise InputError(f"{location}: 'test_list' is empty: task {row['task_id']} has nothing to run.")
    for k, test in enumerate(row["test_list"]):
        check_type(test, str, f"test_list[{k}]", location)
        # The setup belongs to the tests: in tasks 367 and 927 it uses a class that the code defines.
        parts = [unix_lines(part) for part in (row["code"], setup, *imports, test) if part]
        yield {
            "id": f"mbpp_{row['task_id']}_{k}",
            "code": "".join(f"{part}\n" for part in parts),
            "mode": Mode.MODULE,
            "extra": {"task_id": row["task_id"], "assert": test, "entry": _called(parts[0], test)},
        }


def _called(code: str, test: str) -> str | None:
    """Name of the function under test: the first function of the code that the assert calls.

    Some asserts wrap the call: ``assert set(f(x)) == set(y)``. None if the code or the assert does not parse.
    """
    try:
        definitions, tree = defined(quiet_parse(code).body), quiet_parse(test)
    except (SyntaxError, ValueError):
        return None
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    names = [call.func.id for call in calls if isinstance(call.func, ast.Name)]
    return next((name for name in names if name in definitions), names[0] if names else None)


PUBLISHED: Mapping[str, PublishedSet] = published_sets()
"""Name -> the set."""
