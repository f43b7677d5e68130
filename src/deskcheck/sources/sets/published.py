"""Published evaluation sets in their own formats: CRUXEval, HumanEval, MBPP, and those of `predicted`.

``name:PATH`` reads a file that the user has; ``name`` alone fetches the set's files from the Hugging
Face Hub, once (see `hub`), where the licence is known. All of them are evaluation sets, so `train_ok` is
false for every program, whatever the licence would allow: a model trained on them cannot be measured by them.

MBPP asks for attribution: "Mostly Basic Python Problems", Austin et al., Google Research, CC BY 4.0.

Not covered: variants with keys of their own (HumanEval+, MBPP+), and MBPP's `challenge_test_list`.
"""

import ast
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from deskcheck.files import sha256
from deskcheck.recording import InputError, Mode, Program
from deskcheck.sources.sets.hub import HubFile, HubFiles, fetch
from deskcheck.sources.sets.predicted import PREDICTED
from deskcheck.sources.sets.sets import PublishedSet
from deskcheck.sources.text.arguments import parenthesised
from deskcheck.sources.text.python import defined, quiet_parse
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
    """The programs of a set: of the given file, or of the files on the Hub, which are fetched first.

    `note` is told when something is fetched; endpoint as in `fetch`; refuse as of
    `rows.from_rows`.

    Raises:
        InputError: no such file, or (while iterating) a row that is not one of this set.
    """
    known = PUBLISHED[name]
    if file is None:
        if known.hub is None:
            raise InputError(
                f"{name}: is not fetched: write {name}:PATH with your copy of {known.title}, from "
                f"{known.home}."
            )
        kept = zip(fetch(known.hub, name, note=note, endpoint=endpoint), known.hub.files, strict=True)
        return _chained(known, [(path, str(path), known.hub.page(of)) for path, of in kept], refuse)
    path = Path(os.path.expanduser(file))
    if not os.path.isfile(path) or not has_format(path):
        way_out = "" if known.hub is None else f", or {name} alone to fetch the set"
        raise InputError(
            f"{name}:{file}: {file} is no {known.title} file here: write {name}:PATH with a path to a file "
            f"in one of the formats {', '.join(FORMATS)}{way_out}."
        )
    return _chained(known, [(path, file, _source(known, path, file))], refuse)


def scored_by_equality(program: Program) -> bool:
    """Whether a program has the answer of a published set, and that set scores by Python's ``==``."""
    return program.expected is not None and any(
        known.by_equality and program.source.startswith(known.address) for known in PUBLISHED.values()
    )


def _chained(
    known: PublishedSet, files: list[tuple[Path, str, str]], refuse: Refuse | None
) -> Iterator[Program]:
    for path, shown, source in files:
        to_programs = known.reader(path, shown) if known.reader is not None else known.to_programs
        assert to_programs is not None, known.title
        yield from from_rows(path, shown, known.holds, partial(_made, known, source, to_programs), refuse)


def _made(
    known: PublishedSet,
    source: str,
    to_programs: Callable[[Row, str], Iterator[dict[str, Any]]],
    row: Row,
    place: str,
) -> Iterator[Program]:
    check_fields(row, known.required, place, known.holds)
    for fields in to_programs(row, place):
        yield Program(source=source, licence=known.licence, date=known.date, train_ok=False, **fields)


def _source(known: PublishedSet, path: Path, shown: str) -> str:
    """Address of the file on the Hub if its bytes are the ones there, else the set's home and the file."""
    hub = known.hub
    digest = sha256(path) if hub is not None else None
    own = next((hub.page(file) for file in hub.files if file.sha256 == digest), None) if hub else None
    return own or f"{known.address} (as {shown})"


def _cruxeval(row: Row, place: str) -> Iterator[dict[str, Any]]:
    yield {
        "id": row["id"],
        "code": row["code"],
        "mode": Mode.CALL,
        "entry": "f",
        # The set asserts f(<input>) == <output>, so what parentheses the input has are its own.
        "arguments": parenthesised(row["input"], f"{place}: 'input'"),
        "expected": row["output"],
    }


def _humaneval(row: Row, place: str) -> Iterator[dict[str, Any]]:
    yield {
        "id": row["task_id"],
        "code": row["prompt"] + row["canonical_solution"] + "\n\n" + row["test"],
        "mode": Mode.CALL,
        "entry": "check",
        "arguments": parenthesised(row["entry_point"], f"{place}: 'entry_point'"),
        "extra": {"entry_point": row["entry_point"], "task_id": row["task_id"]},
    }


def _mbpp(row: Row, place: str) -> Iterator[dict[str, Any]]:
    setup = row.get("test_setup_code") or ""
    check_type(setup, str, "test_setup_code", place)
    imports = row.get("test_imports") or []  # what the sanitized form of the set has instead
    check_type(imports, list, "test_imports", place)
    for k, line in enumerate(imports):
        check_type(line, str, f"test_imports[{k}]", place)
    if not row["test_list"]:
        raise InputError(f"{place}: 'test_list' is empty: task {row['task_id']} has nothing to run.")
    for k, test in enumerate(row["test_list"]):
        check_type(test, str, f"test_list[{k}]", place)
        # The setup is the tests' own: that of tasks 367 and 927 makes nodes of a class that the code defines.
        parts = [_with_unix_lines(part) for part in (row["code"], setup, *imports, test) if part]
        yield {
            "id": f"mbpp_{row['task_id']}_{k}",
            "code": "".join(f"{part}\n" for part in parts),
            "mode": Mode.MODULE,
            "extra": {"task_id": row["task_id"], "assert": test, "entry": _called(parts[0], test)},
        }


def _with_unix_lines(text: str) -> str:
    """Python reads the Windows line ends of the published code too, but they would show in a recording."""
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def _called(code: str, test: str) -> str | None:
    """Name of the function under test: the first call in the assert of what the code defines.

    Some asserts wrap it, as ``assert set(f(x)) == set(y)``; None if neither part can be read.
    """
    try:
        own, tree = defined(quiet_parse(code).body), quiet_parse(test)
    except (SyntaxError, ValueError):
        return None
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    names = [call.func.id for call in calls if isinstance(call.func, ast.Name)]
    return next((name for name in names if name in own), names[0] if names else None)


# Revisions and checksums as other public projects pin them. That of CRUXEval is also the checksum of
# data/cruxeval.jsonl in the authors' own repository (facebookresearch/cruxeval, commit 190faf16d175).
PUBLISHED: Mapping[str, PublishedSet] = {
    "cruxeval": PublishedSet(
        title="CRUXEval",
        hub=HubFiles(
            repo="cruxeval-org/cruxeval",
            revision="b96af0450242eb4da433032b90998f25588a5d0f",
            files=(
                HubFile(
                    name="test.jsonl",
                    sha256="8368b81047dc5014e4caf5a2f97604eff7644e0ecd7415e3ceeb184bbc2e0c96",
                ),
            ),
        ),
        licence="MIT",
        date="2024-01-05",  # arXiv:2401.03065
        required={"id": str, "code": str, "input": str, "output": str},
        to_programs=_cruxeval,
        by_equality=True,  # the set's own check is an assert with ==
    ),
    "humaneval": PublishedSet(
        title="HumanEval",
        hub=HubFiles(
            repo="openai/openai_humaneval",
            revision="7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544",
            files=(
                HubFile(
                    name="openai_humaneval/test-00000-of-00001.parquet",
                    sha256="2f2871a15fbc95b6c683043359f4ed8e144c5a1c4f24f25f66bc51f598dfcfb6",
                ),
            ),
        ),
        licence="MIT",
        date="2021-07-07",  # arXiv:2107.03374
        required={"task_id": str, "prompt": str, "canonical_solution": str, "test": str, "entry_point": str},
        to_programs=_humaneval,
    ),
    "mbpp": PublishedSet(
        title="MBPP",
        hub=HubFiles(
            repo="google-research-datasets/mbpp",
            revision="4bb6404fdc6cacfda99d4ac4205087b89d32030c",
            # Tasks 1-10, 11-510, 511-600, 601-974: together the published file, in its order.
            files=(
                HubFile(name="full/prompt-00000-of-00001.parquet", sha256=None),
                HubFile(
                    name="full/test-00000-of-00001.parquet",
                    sha256="566fd53060ffba5766dace1d1e2f4c38906781526de222b0dfbdbc325b696c77",
                ),
                HubFile(
                    name="full/validation-00000-of-00001.parquet",
                    sha256="3f0ec060987432d99fe8fb409d31e6c67445b208a01741c5583517c80a10fe80",
                ),
                HubFile(
                    name="full/train-00000-of-00001.parquet",
                    sha256="09d125ca31edacb7800be8c67c45abff618faf0214ff551291817d06bdb914ae",
                ),
            ),
        ),
        licence="CC-BY-4.0",
        date="2021-08-16",  # arXiv:2108.07732
        required={"task_id": int, "code": str, "test_list": list},
        to_programs=_mbpp,
    ),
    **PREDICTED,
}
