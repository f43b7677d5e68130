"""Rows of a folder that `deskcheck offline score` wrote."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deskcheck.ask.results.rows import MEASURED, Key, LoggedRun, ScoredSample, scored_here
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.score import METRICS, AnswerScore
from deskcheck.errors import InputError
from deskcheck.files import opened_name, read_file, read_json
from deskcheck.jobs.job_folder import JobFolder
from deskcheck.jobs.manifest import manifest_lines, whole_of_part
from deskcheck.jobs.plan import read_plan

QUESTIONS_FILE = "questions.json"
"""The file in a folder of scores with path and digest of the questions, to know which were not answered."""
UNNAMED = "(no name)"
"""The model of answers whose lines do not name one."""
_AGAIN = "Score again: deskcheck offline score QUESTIONS ANSWERS --out FOLDER."
NOT_ANSWERED = "not answered"
"""`ScoredSample.reading` of a question without a completion."""
NOT_SCORED = "an answer could not be scored"
"""The reason to exclude a question whose answer ended the process that scored it."""


def is_scores_folder(folder: Path) -> bool:
    try:
        job = read_json(read_file(folder / "job.json"))
    except (OSError, ValueError):
        return False
    return isinstance(job, dict) and job.get("kind") == "score"


def runs_in_scores(folder: Path) -> Iterator[LoggedRun]:
    """The runs in a folder of scores, each over all questions. Questions without an answer score 0.

    Raises:
        InputError: scores are missing, the questions are missing or changed, or a file cannot be read.
        RecordingError: the job's own files are damaged.
    """
    started = float(read_plan(JobFolder(folder)).started)
    questions = _questions(folder)
    answers: dict[tuple[str, str], list[ScoredSample]] = {}
    failed: Counter[tuple[str, str]] = Counter()
    for row in _rows(folder):
        model_and_id = row["model"] or UNNAMED, row["id"]
        if row["status"] == "harness_error":
            failed[model_and_id] += 1
        elif row["status"] == "scored":
            epochs = answers.setdefault(model_and_id, [])
            epochs.append(_scored(row, model_and_id[0], questions[row["id"]], len(epochs) + 1))
    for model in sorted({model for model, _ in [*answers, *failed]}):
        samples: dict[Key, list[ScoredSample]] = {}
        excluded: dict[Key, Counter[str]] = {}
        for id_, sample in questions.items():
            key = Key(sample.question, sample.view, "direct", model)
            scored = answers.get((model, id_), [])
            reasons = excluded.setdefault(key, Counter())
            if (model, id_) in failed:
                reasons[NOT_SCORED] += failed[model, id_]
            elif not scored:
                scored = [_unanswered(sample, model)]
            samples.setdefault(key, []).extend(scored)
        for key, rows in samples.items():
            yield LoggedRun(key=key, folder=folder, started=started, samples=rows, excluded=excluded[key])


def _questions(folder: Path) -> dict[str, Sample]:
    from deskcheck.ask.questions.lines import Questions, lines_of, sample_in

    file = folder / QUESTIONS_FILE
    try:
        questions = read_json(read_file(file))
        path, digest = Path(questions["path"]), questions["digest"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{folder}: its scores are incomplete: {file.name} is missing. {_AGAIN}") from None
    if not path.exists():
        path = folder.resolve().parent / path.name  # moved together
    if not path.exists():
        raise InputError(
            f"{folder}: its questions, {questions['path']}, are missing. Put them back, or beside "
            f"the folder, or: {_AGAIN}"
        )
    if Questions(path).digest_of_all() != digest:
        raise InputError(f"{folder}: {path} has other questions than those that were scored. {_AGAIN}")
    return {sample.id: sample for sample in (sample_in(line.raw) for line in lines_of(path))}


def _rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    job_folder = JobFolder(folder)
    lines = manifest_lines(job_folder)
    lacking = {shard.name for shard in read_plan(job_folder).shards} - {*lines, *whole_of_part(lines)}
    if lacking:
        raise InputError(
            f"{job_folder.manifest}: its scores are incomplete: {min(lacking)} is missing. {_AGAIN}"
        )
    for shard in lines:
        yield from read_rows(job_folder.file("scores", shard))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file. Raises InputError if it cannot be read."""
    try:
        with opened_name(path) as name:
            rows: list[dict[str, Any]] = pq.read_table(name).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from error
    return rows


def _scored(row: Mapping[str, Any], model: str, sample: Sample, epoch: int) -> ScoredSample:
    metrics = {name: row[name] for name in MEASURED if row.get(name) is not None}
    scored = AnswerScore(row["score"], row["answer"], row["reason"], metrics)
    columns = {"reading": row["reading"] or "", "stop_reason": row["stop_reason"], "epoch": epoch}
    return scored_here(sample, scored, model, completion="", **columns)


def _unanswered(sample: Sample, model: str) -> ScoredSample:
    metrics = dict.fromkeys(METRICS.get(sample.data["form"], ()), 0.0)
    scored = AnswerScore(0.0, None, "no completion", metrics)
    return scored_here(sample, scored, model, completion="", reading=NOT_ANSWERED)
