"""The attempts of a method at one question: every call of the model, every program, and the results.

The page is built from `web/src/attempts.tsx`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from deskcheck.ask.results.logs import read_logs
from deskcheck.ask.results.rows import ScoredSample
from deskcheck.files import read_json
from deskcheck.recording import InputError
from deskcheck.view.page import page_of, visible


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer of a model to a question by a method, with its transcript."""

    row: ScoredSample
    transcript: dict[str, Any]

    @property
    def what(self) -> str:
        """Model, method, and which of several answers."""
        again = f", answer {self.row.epoch}" if self.row.epoch > 1 else ""
        return f"{self.row.model} by {self.row.solver}{again}"

    @property
    def used(self) -> str:
        """The used part of the budget, and the reason of the end."""
        transcript = self.transcript
        ended = f": {transcript['ended']}" if transcript["ended"] else ""
        return f"{transcript['calls']} calls, {transcript['runs']} runs, {transcript['tokens']} tokens{ended}"


def answered_in(folder: Path, *, model: str | None = None, method: str | None = None) -> list[Answered]:
    """The answers with transcripts in a run folder, of all models and methods or one.

    Raises InputError if there are none.
    """
    answers = [
        Answered(row, read_json(row.attempts, f"{row.id}: attempts"))
        for result in read_logs([folder]).results
        for row in result.samples
        if row.attempts and model in (None, row.model) and method in (None, row.solver)
    ]
    if not answers:
        raise InputError(
            f"{folder}: has no transcripts of methods that run code (deskcheck help scaffolds). "
            f"For the answers of models run `deskcheck report {folder}`."
        )
    return answers


def of_sample(answers: Sequence[Answered], name: str) -> list[Answered]:
    """The answers to one sample. name: its id, or a part that no other id contains. Raises InputError."""
    ids = dict.fromkeys(answered.row.id for answered in answers)
    fit = [name] if name in ids else [id_ for id_ in ids if name in id_]
    if len(fit) != 1:
        what = f"{len(fit)} samples have {name!r} in their id" if fit else f"unknown sample {name!r}"
        raise InputError(f"{what}. The samples are: {', '.join((fit or [*ids])[:10])}.")
    return [answered for answered in answers if answered.row.id == fit[0]]


def attempts_facts(answers: Iterable[Answered]) -> dict[str, Any]:
    """The data of the page, JSON-able."""
    names = ("id", "question", "model", "solver", "epoch", "score", "reason", "answer")
    return {
        "answered": [
            {n: getattr(answered.row, n) for n in names} | answered.transcript for answered in answers
        ]
    }


def attempts_list(answers: Iterable[Answered]) -> Table:
    """A table with a row for each question, model and method."""
    table = Table(show_edge=False, pad_edge=False)
    for name in ("sample", "model", "method"):
        table.add_column(name, overflow="fold")
    for name in ("score", "calls", "runs", "tokens"):
        table.add_column(name, justify="right")
    table.add_column("ended", overflow="fold")
    for answered in answers:
        row, transcript = answered.row, answered.transcript
        numbers = [f"{row.score:g}", *(str(transcript[name]) for name in ("calls", "runs", "tokens"))]
        cells = [row.id, row.model, row.solver, *numbers, transcript["ended"]]
        table.add_row(*(Text(visible(cell)) for cell in cells))
    return table


def attempts_table(answers: Sequence[Answered]) -> Group:
    """The transcripts for a terminal: each attempt with its result."""
    parts: list[Table | Text] = []
    for answered in answers:
        parts.append(Text(visible(f"{answered.what}: score {answered.row.score:g}; {answered.used}")))
        table = Table(show_edge=False, pad_edge=False)
        for name in ("step", "result"):
            table.add_column(name, overflow="fold")
        for attempt in answered.transcript["attempts"]:
            first = _said(attempt).partition("\n")[0]
            table.add_row(Text(visible(attempt["step"])), Text(visible(f"{first:.300}")))
        parts.append(table)
    return Group(*parts)


def _said(attempt: dict[str, Any]) -> str:
    """The result of an attempt, in a line."""
    match attempt["kind"]:
        case "call":
            read, written = attempt.get("tokens", (0, 0))
            return f"{read} tokens read, {written} written" + (
                f", ended by {attempt['stop_reason']}" if attempt.get("stop_reason", "stop") != "stop" else ""
            )
        case "tests":
            passed = f"{attempt['passed']} of {attempt['of']} pass"
            return f"{passed}; {attempt['verdict']}" if attempt.get("verdict") else passed
        case "calls":
            return f"{len(attempt.get('verdict', '').splitlines())} calls"
    return str(attempt.get("verdict", ""))


def attempts_page(answers: Sequence[Answered]) -> str:
    """The transcripts of one sample as HTML, of all models and methods in turn."""
    title = f"Attempts at {answers[0].row.id}"
    facts = {"title": title, "prompt": answers[0].row.prompt, "answers": list(map(_answer_facts, answers))}
    return page_of("attempts", title, facts, bundle="document")


def _answer_facts(answered: Answered) -> dict[str, Any]:
    row = answered.row
    return {
        "who": answered.what,
        "used": answered.used,
        "left_out": answered.transcript["left_out"],
        "attempts": [attempt | {"outcome": _said(attempt)} for attempt in answered.transcript["attempts"]],
        "verdict": "right" if row.score == 1 else f"score {row.score:g}: {row.reason}",
        "completion": row.completion,
    }
