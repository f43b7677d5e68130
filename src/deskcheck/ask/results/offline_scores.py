"""Reads what `deskcheck offline score` left behind: scores of answers that models gave elsewhere."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deskcheck.ask.results.asked import Asked
from deskcheck.ask.results.results import MEASURED, ScoredSample
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.score import METRICS
from deskcheck.errors import InputError
from deskcheck.files import opened_name, read_file, read_json
from deskcheck.jobs.job_folder import Place
from deskcheck.jobs.manifest import claims, parts_of
from deskcheck.jobs.plan import read_plan

QUESTIONS_FILE = "questions.json"
"""In a folder of scores: where the questions are, which say what was not answered."""
UNNAMED = "(no name)"
"""The model of answers whose lines name none."""
_AGAIN = "Score again: deskcheck offline score QUESTIONS ANSWERS --out FOLDER."
NOT_ANSWERED = "not answered"
"""Stands for what a completion is (`ScoredSample.reading`) where there is none."""
NOT_SCORED = "an answer could not be scored"
"""Why an answer is excluded that ended the process that scored it."""


def is_scores_folder(folder: Path) -> bool:
    try:
        told = read_json(read_file(folder / "job.json"))
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and told.get("kind") == "score"


def asked_in_scores(folder: Path) -> Iterator[Asked]:
    """What a folder of scores holds: for each model all questions. Those that it did not answer score 0;
    answers that could not be scored are excluded.

    Raises InputError: the scores are not whole; the questions are not where they were, or are others; a file
    cannot be read. RecordingError: what the folder says of itself is damaged.
    """
    started = float(read_plan(Place(folder)).started)
    questions = _questions(folder)
    scored: dict[str, dict[str, list[ScoredSample]]] = {}
    failed: Counter[tuple[str, str]] = Counter()
    for row in _rows(folder):
        model = row["model"] or UNNAMED
        if row["status"] == "harness_error":
            failed[model, row["id"]] += 1
        elif row["status"] == "scored":
            answers = scored.setdefault(model, {}).setdefault(row["id"], [])
            answers.append(_scored(row, model, questions[row["id"]], len(answers) + 1))
    for model in sorted(scored.keys() | {model for model, _ in failed}):
        by_kind: dict[tuple[str, str], list[ScoredSample]] = {}
        excluded: dict[tuple[str, str], Counter[str]] = {}
        for id_, sample in questions.items():
            answers = scored.get(model, {}).get(id_, [])
            kind = sample.question, sample.view
            if (model, id_) in failed:
                excluded.setdefault(kind, Counter())[NOT_SCORED] += failed[model, id_]
            elif not answers:
                answers = [_unanswered(sample, model)]
            by_kind.setdefault(kind, []).extend(answers)
        for (question, state), samples in by_kind.items():
            key = (question, state, "direct", model)
            left_out = excluded.get((question, state), Counter())
            yield Asked(key=key, folder=folder, started=started, samples=samples, excluded=left_out)


def _questions(folder: Path) -> dict[str, Sample]:
    from deskcheck.ask.questions.lines import Questions, lines_of, sample_in

    told = folder / QUESTIONS_FILE
    try:
        asked = read_json(read_file(told))
        path, digest = Path(asked["path"]), asked["digest"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{folder}: its scores are not whole: {told.name} is missing. {_AGAIN}") from None
    if not path.exists():
        path = folder.resolve().parent / path.name  # moved together
    if not path.exists():
        raise InputError(
            f"{folder}: its questions, {asked['path']}, are not there any more. Put them back, or beside the "
            f"folder, or: {_AGAIN}"
        )
    if Questions(path).digest_of_all() != digest:
        raise InputError(f"{folder}: {path} holds other questions than those that were scored. {_AGAIN}")
    return {sample.id: sample for sample in (sample_in(line.raw) for line in lines_of(path))}


def _rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = Place(folder)
    lines = claims(place)
    lacking = {shard.name for shard in read_plan(place).shards} - {*lines, *parts_of(lines)}
    if lacking:
        raise InputError(f"{place.manifest}: its scores are not whole: it lacks {min(lacking)}. {_AGAIN}")
    for name in lines:
        path = place.file("scores", name)
        try:
            with opened_name(path) as name:
                rows = pq.read_table(name).to_pylist()
            yield from rows
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from error


def _scored(row: Mapping[str, Any], model: str, sample: Sample, epoch: int) -> ScoredSample:
    metrics: dict[str, Any] = {name: row.get(name) for name in MEASURED}
    return ScoredSample(
        **_of_sample(sample, model),
        **metrics,
        answer=row["answer"],
        score=row["score"],
        reason=row["reason"],
        reading=row["reading"] or "",
        stop_reason=row["stop_reason"],
        epoch=epoch,
    )


def _unanswered(sample: Sample, model: str) -> ScoredSample:
    metrics: dict[str, Any] = dict.fromkeys(METRICS.get(sample.data["form"], ()), 0.0)
    return ScoredSample(
        **_of_sample(sample, model),
        **metrics,
        answer=None,
        score=0.0,
        reason="there is no completion",
        reading=NOT_ANSWERED,
    )


def _of_sample(sample: Sample, model: str) -> dict[str, Any]:
    return {
        "id": sample.id_in_all_views,
        "program": sample.program,
        "cluster": sample.cluster,
        "question": sample.question,
        "model": model,
        "solver": "direct",
        "completion": "",
        "expected": sample.answer,
        "data": json.dumps(sample.data),
        "prompt": sample.prompt,
    }
