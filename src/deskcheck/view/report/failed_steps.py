"""Where answers went wrong: pages of the recordings, opened at the step, and scores by the kind of line.

Both need the recordings that a run of `deskcheck ask` was about. Without them, for example if they were moved
or the answers come from another tool, there are none.
"""

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from deskcheck.ask.methods.ground_truth import ground_truth_of
from deskcheck.ask.methods.solvers import named
from deskcheck.ask.results.folder import read_card
from deskcheck.ask.results.results import Result
from deskcheck.ask.results.rows import ScoredSample
from deskcheck.errors import DeskcheckError
from deskcheck.files import read_json, write_file
from deskcheck.notation.layout import STEPWISE
from deskcheck.recording import Recording
from deskcheck.recording.reader import Recordings
from deskcheck.view.queries.statements import SourceStatements, Statement
from deskcheck.view.report.rows import KEYS, names_of
from deskcheck.view.report.sheets import Column, Sheet
from deskcheck.view.side_by_side import beside, beside_page, read_prediction
from deskcheck.view.trace_page import trace_page

_NAME_CHARS = 60
_KINDS: dict[type[ast.AST], str] = {
    ast.AugAssign: "augmented assignment",
    ast.AnnAssign: "assignment",
    ast.Assign: "assignment",
    ast.AsyncFor: "for",
    ast.AsyncWith: "with",
    ast.AsyncFunctionDef: "def",
    ast.ClassDef: "class",
    ast.ExceptHandler: "except",
    ast.Expr: "expression",
    ast.FunctionDef: "def",
}
"""Statements whose name in Python's grammar is not their keyword."""


class AskedRecordings:
    """The recordings that the run folders name, if they still exist."""

    def __init__(self) -> None:
        self._folders: dict[str, tuple[Recordings, ...]] = {}
        self._statements: dict[tuple[str, str], SourceStatements | None] = {}

    def recording(self, folder: str, program: str) -> Recording | None:
        """The recording of a program, by the run folder that has answers about it."""
        if folder not in self._folders:
            self._folders[folder] = tuple(_opened(Path(folder)))
        recordings = next((candidate for candidate in self._folders[folder] if program in candidate), None)
        return None if recordings is None else recordings[program]

    def kind_of_line(self, folder: str, row: ScoredSample) -> str | None:
        """The kind of the statement that an answer is about, or whose effect was predicted wrong first."""
        shard_row = self._place(folder, row)
        if shard_row is None:
            return None
        key = (folder, row.program)
        if key not in self._statements:
            recording = self.recording(*key)
            self._statements[key] = None if recording is None else SourceStatements(recording)
        statements = self._statements[key]
        statement = None if statements is None else statements.at(*shard_row)
        return None if statement is None else _kind(statement)

    def _place(self, folder: str, row: ScoredSample) -> tuple[str, int] | None:
        """File and line."""
        if not row.run:
            data = _data(row)
            file, line = data.get("file"), data.get("line")
            return (file, line) if isinstance(file, str) and isinstance(line, int) else None
        recording = self.recording(folder, row.program) if row.divergence and row.steps_exact else None
        truth = "" if recording is None else ground_truth_of(recording)
        if isinstance(truth, str):
            return None
        # The last right state is that before the line whose effect was wrong.
        initial = 1 if named(row.solver)[0].notation in STEPWISE else 0
        last = initial + (row.steps_exact or 0) - 1
        state = next(islice(truth.states(), last, None), None)
        return None if state is None else (truth.program.filename, state.running.line)


def _data(row: ScoredSample) -> dict[str, Any]:
    data = read_json(row.data or "{}", row.id)
    return data if isinstance(data, dict) else {}


def _kind(statement: Statement) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return "call"
    return _KINDS.get(type(statement), type(statement).__name__.lower())


def _opened(folder: Path) -> Iterator[Recordings]:
    card = (read_card(folder) if folder.is_dir() else None) or {}
    named_folders = card.get("folders")
    for path in named_folders if isinstance(named_folders, list) else []:
        if isinstance(path, str) and Path(path).is_dir():  # not moved or deleted since
            yield Recordings(Path(path))


def lines_sheet(results: Sequence[Result], recordings: AskedRecordings) -> Sheet:
    """Wrong answers by the kind of line."""
    rows: list[tuple[Any, ...]] = []
    for result in results:
        totals: Counter[str] = Counter()
        wrong: Counter[str] = Counter()
        for row in result.samples:
            if row.run and row.score == 1:
                continue
            kind = recordings.kind_of_line(result.folder, row)
            if kind is not None:
                totals[kind] += 1
                wrong[kind] += row.score < 1
        if not any(wrong.values()):
            continue
        predicted = any(row.run for row in result.samples)
        for kind, count in sorted(wrong.items(), key=lambda item: (-item[1], item[0])):
            total = None if predicted else totals[kind]
            share = None if total is None else count / total
            rows.append((*names_of(result), kind, count, total, share))
    return Sheet(
        name="lines",
        title="Kinds of line",
        columns=(
            *(*KEYS, Column("line"), Column("wrong", "d"), Column("asked", "d")),
            Column("share wrong", ".3f"),
        ),
        rows=rows,
        note="The statement that a question is about. Of a predicted run it is the one whose effect was "
        "wrong first, so only failures count.",
    )


def write_pages(failures: Sequence[dict[str, Any]], asked: AskedRecordings, folder: Path, limit: int) -> int:
    """Write a page for failing examples, up to a number of pages, and add its address to each example.

    A predicted run is beside the recorded one, at the first divergence. For another answer the recording is
    opened at the event that the question is about. Returns the number of pages.

    Raises InputError if a page cannot be written.
    """
    written: set[str] = set()
    for failure in failures:
        for example in failure["examples"]:
            predicted = any(name == "predicted run" for name, *_ in example["texts"])
            way = (failure["folder"], example["program"])
            choice = (*way, failure["model"], failure["solver"]) if predicted else way
            name = _file_name(example["program"], choice)
            if name not in written:
                page = _page(asked, failure, example["program"], predicted) if len(written) < limit else None
                if page is None:
                    continue
                folder.mkdir(parents=True, exist_ok=True)
                write_file(folder / name, page)
                written.add(name)
            event = example["event"]
            anchor = "" if predicted or event is None else f"#event={event}"
            example["page"] = f"{folder.name}/{name}{anchor}"
    return len(written)


def _page(
    asked: AskedRecordings, failure: dict[str, Any], program: str, predicted: bool
) -> Iterator[str] | None:
    recording = asked.recording(failure["folder"], program)
    if recording is None or not recording.traces:
        return None
    if not predicted:
        return trace_page(recording, packed=True)
    try:
        prediction = read_prediction(
            Path(failure["folder"]), recording, model=failure["model"], method=failure["solver"]
        )
    except DeskcheckError:  # a prediction that began in the middle, or in steps of several events
        return trace_page(recording, packed=True)
    return iter([beside_page(beside(recording, prediction), packed=True)])


def _file_name(program: str, choice: tuple[str, ...]) -> str:
    short = re.sub(r"[^\w.-]+", "-", program, flags=re.ASCII)[-_NAME_CHARS:].strip("-.")
    return f"{short}-{hashlib.sha256(repr(choice).encode('utf-8', 'replace')).hexdigest()[:8]}.html"


def event_of(row: ScoredSample) -> int | None:
    """The event that a question is about."""
    event = _data(row).get("event")
    return event if isinstance(event, int) and event >= 0 else None
