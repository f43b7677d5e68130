"""What a version reads in the files of another: what happened in each run, and what came out of questions."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from deskcheck import Recordings
from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.questions.lines import lines_of, sample_in
from deskcheck.ask.results.logs import read_logs
from deskcheck.ask.scoring.score import score_answer
from deskcheck.notebook import Execution, read_trajectory

FOLDERS = ("recordings", "instructions", "job")
RUN = {"input"}
"""Kinds of question whose answers are run."""


def everything(folder: Path) -> dict[str, Any]:
    """All that a folder of `tests.compatible` holds, as JSON-able values."""
    return {
        **{name: recorded(folder / name) for name in FOLDERS},
        "books": {path.name: cells(path) for path in sorted((folder / "books").iterdir())},
        "questions": asked(folder / "questions.jsonl"),
        **{name: scores(folder / name) for name in ("scores", "run", "run/logs")},
        "lessons": lessons(sorted((folder / "lessons").glob("*.parquet"))),
    }


def digest(texts: Iterable[str]) -> str:
    hashed = hashlib.sha256()
    for text in texts:
        hashed.update(f"{text}\n".encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()[:16]


def recorded(folder: Path) -> dict[str, Any]:
    """Of each recording its outcome, its result, and all lines with the state of their variables."""
    found = {}
    for recording in Recordings(folder):
        lines = (
            f"{event.kind} {event.function} {event.line} {[*map(str, event.stack)]} "
            f"{ {name: str(value) for name, value in event.locals.items()} } {event.value} {event.output}"
            for event in recording.trace
        )
        found[recording.id] = [
            str(recording.outcome),
            str(recording.result),
            len(recording.trace),
            digest(lines),
        ]
    return found


def cells(path: Path) -> list[str]:
    """Of each execution its status, what it showed, and the variables of the kernel."""
    return [
        f"{step.cell} {step.status} {digest([*_shown(step), *_variables(step)])}"
        for step in read_trajectory(path).steps
        if isinstance(step, Execution)
    ]


def _shown(step: Execution) -> Iterable[str]:
    return [
        f"{one.type} {one.name} {one.text} {one.value} {sorted(one.data.items())}" for one in step.shown()
    ]


def _variables(step: Execution) -> Iterable[str]:
    variables = (step.state or {}).get("variables", {})
    return [f"{name}: {json.dumps(one, sort_keys=True)}" for name, one in variables.items()]


def asked(path: Path) -> dict[str, Any]:
    """How many questions there are of each kind; the stored answer is right, and another is wrong."""
    counts: Counter[str] = Counter()
    for line in lines_of(path):
        sample = sample_in(line.raw)
        counts[sample.question] += 1
        if sample.question not in RUN:
            counts["right"] += score_answer(sample, f"{OPEN}{sample.answer}{CLOSE}").score == 1
            counts["wrong"] += score_answer(sample, f"{OPEN}nothing{CLOSE}").score == 0
    return dict(counts)


def scores(folder: Path) -> list[list[Any]]:
    """Of each kind of question and model how many were asked, and the score."""
    results = read_logs([folder]).results
    return sorted(
        [one.question, one.solver, one.model, one.n, one.score and round(one.score, 6)] for one in results
    )


def lessons(files: list[Path]) -> dict[str, Any]:
    """Of each notation how many lessons there are, and their words and tokens."""
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    return {
        name: [
            sum(row["notation"] == name for row in rows),
            digest(row["prompt"] + row["completion"] for row in rows if row["notation"] == name),
            sum(len(row["input_ids"]) for row in rows if row["notation"] == name),
        ]
        for name in sorted({row["notation"] for row in rows})
    }
