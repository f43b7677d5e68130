"""Reads what EleutherAI's lm-evaluation-harness writes with ``--log_samples``: ``samples_TASK_DATE.jsonl``, a
line for each sample and filter, beside ``results_DATE.json``.

Each metric and each filter is a question of its own: ``TASK``, ``TASK/FILTER`` where there are several
filters, ``TASK/METRIC`` where there are several metrics. Left out, with a word: metrics that are no number
from 0 to 1 for each sample, as perplexities are.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from deskcheck.ask.results.asked import Asked, scored_elsewhere, seconds
from deskcheck.ask.results.results import ScoredSample
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.score import Reading, score_answer
from deskcheck.files import open_file, read_file, read_json
from deskcheck.recording import InputError

_NO_METRICS = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
}
"""Earlier versions do not name a sample's metrics: they are what else it has."""
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?)\.jsonl")


def is_samples_file(path: Path) -> bool:
    """Whether a file is named as the harness names its samples."""
    return _NAME.fullmatch(path.name) is not None


def is_summary_file(path: Path) -> bool:
    """Whether a file is named as the harness names the results of a run, which have no samples."""
    return path.name.startswith("results_") and path.suffix == ".json"


class SamplesFile:
    """A file of samples. Raises InputError where it, or the results beside it, cannot be read."""

    def __init__(self, path: Path) -> None:
        named = _NAME.fullmatch(path.name)
        if named is None:
            raise InputError(f"{path}: is not named as samples of lm-evaluation-harness are.")
        self.path = path
        self.task: str = named["task"]
        day, _, time = named["date"].partition("T")
        self.started = seconds(day + "T" + time.replace("-", ":"), path)
        self.model = path.parent.name
        """The weights or the served model; where neither is told, the kind of model; where no results are
        beside the samples, the name of the folder."""
        self.less_is_better: set[str] = set()
        beside = path.with_name(f"results_{named['date']}.json")
        if beside.exists():
            try:
                told = read_json(read_file(beside))
                self.model = _model(told)
                better = dict(told.get("higher_is_better", {}).get(self.task) or {})
            except (OSError, ValueError, AttributeError, TypeError) as error:
                raise InputError(f"{beside}: cannot be read: {error}.") from error
            self.less_is_better = {metric for metric, higher in better.items() if higher is False}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Its lines, each a sample."""
        try:
            with open_file(self.path) as file:
                for number, line in enumerate(file, 1):
                    yield self._row(line, number)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror or error}.") from error

    def _row(self, line: bytes, number: int) -> dict[str, Any]:
        row = read_json(line, f"{self.path}, line {number}")
        if not isinstance(row, dict):
            raise InputError(f"{self.path}, line {number}: is not a JSON object.")
        if missing := {"doc_id", "doc", "target", "resps", "filtered_resps"} - row.keys():
            raise InputError(
                f"{self.path}, line {number}: is no sample of lm-evaluation-harness: it has no "
                f"{sorted(missing)[0]!r}."
            )
        metrics = row.get("metrics") or []
        if not isinstance(metrics, list) or not all(isinstance(name, str) for name in metrics):
            raise InputError(f"{self.path}, line {number}: 'metrics' is not a list of names.")
        return row


def asked_in_samples(path: Path, cluster: str | None, notes: list[str]) -> Iterator[Asked]:
    """What a file of samples holds. cluster: the field of the documents by which they belong together;
    without it each stands alone. notes: what is passed over is told there. Answers to questions of ours
    (`exchange.harness`) are scored anew.

    Raises InputError: it cannot be read, or a document has no such field.
    """
    file = SamplesFile(path)
    own: dict[str, list[ScoredSample]] = {}
    found: dict[tuple[str, str], list[tuple[Mapping[str, Any], float]]] = {}
    odd: Counter[str] = Counter()
    for row in file.rows():
        if (sample := sample_of(row)) is not None:
            own.setdefault(sample.question, []).extend(_scored_anew(sample, row, file.model))
            continue
        for metric in row.get("metrics") or [name for name in row if name not in _NO_METRICS]:
            value = row.get(metric)
            if (
                metric not in file.less_is_better
                and isinstance(value, (bool, int, float))
                and 0 <= value <= 1
            ):
                each = found.setdefault((str(row.get("filter", "none")), metric), [])
                each.append((row, float(value)))
            else:
                odd[metric] += 1
    for metric, count in odd.items():
        notes.append(
            f"{path.name}: {count} values of {metric} are no scores from 0 to 1 where more is better, and "
            "are left out."
        )

    def asked(question: str, samples: Sequence[ScoredSample]) -> Asked:
        key = (question, "", "direct", file.model)
        return Asked(key=key, folder=path.parent, started=file.started, samples=samples, excluded={})

    for question, scored in own.items():
        yield asked(question, scored)
    filters, metrics = ({key[part] for key in found} for part in (0, 1))
    for (kept, metric), rows in found.items():
        parts = (kept if len(filters) > 1 else "", metric if len(metrics) > 1 else "")
        question = "/".join(filter(None, (file.task, *parts)))
        yield asked(question, [_scored(row, score, question, file.model, cluster) for row, score in rows])


def sample_of(row: Mapping[str, Any]) -> Sample | None:
    """The question of ours that a row is about, if it is."""
    told = row["doc"].get("sample") if isinstance(row["doc"], dict) else None
    if not isinstance(told, str):
        return None
    try:
        return Sample.from_dict(read_json(told))
    except (ValueError, TypeError):
        return None


def answers_in(row: Mapping[str, Any]) -> list[str]:
    """What the model wrote, as often as it was asked."""
    responses = row["resps"]
    while isinstance(responses, list) and len(responses) == 1 and isinstance(responses[0], list):
        responses = responses[0]
    return [text_of(each) for each in responses] if isinstance(responses, list) else [text_of(responses)]


def _model(told: Mapping[str, Any]) -> str:
    config = dict(told.get("config") or {})
    given = config.get("model_args") or {}
    if isinstance(given, str):
        given = dict(pair.partition("=")[::2] for pair in given.split(","))
    named = given.get("pretrained") or given.get("model") or config.get("model")
    return str(named or told.get("model_name") or "unknown")


def _scored_anew(sample: Sample, row: Mapping[str, Any], model: str) -> Iterator[ScoredSample]:
    for epoch, completion in enumerate(answers_in(row), 1):
        found = score_answer(sample, completion)
        metrics: dict[str, Any] = dict(found.metrics)
        yield ScoredSample(
            id=sample.id,
            program=sample.program,
            cluster=sample.cluster,
            question=sample.question,
            model=model,
            solver="direct",
            completion=completion,
            answer=found.answer,
            expected=sample.answer,
            score=found.score,
            reason=found.reason,
            data=json.dumps(sample.data),
            reading=found.reading.value,
            epoch=epoch,
            prompt=sample.prompt,
            **metrics,
        )


def _scored(
    row: Mapping[str, Any], score: float, question: str, model: str, cluster: str | None
) -> ScoredSample:
    return scored_elsewhere(
        str(row["doc_id"]),
        row["doc"] if isinstance(row["doc"], dict) else {},
        cluster,
        question,
        question=question,
        model=model,
        solver="direct",
        completion=text_of(row["resps"]),
        answer=text_of(row["filtered_resps"]),
        expected=str(row["target"]),
        score=score,
        reading=Reading.ANSWERED.value,
        prompt=_prompt(row.get("arguments")),
    )


def _prompt(arguments: object) -> str:
    """What the model was given first; a list of lists in earlier versions."""
    for _ in range(2):
        some = arguments.values() if isinstance(arguments, dict) else arguments
        arguments = next(iter(some), "") if isinstance(some, Iterable) and not isinstance(some, str) else some
    return arguments if isinstance(arguments, str) else ""


def text_of(responses: object) -> str:
    """One response as it is; several, or those with likelihoods, as JSON."""
    while isinstance(responses, list) and len(responses) == 1:
        responses = responses[0]
    return responses if isinstance(responses, str) else json.dumps(responses)
