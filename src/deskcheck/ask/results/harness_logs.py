"""Rows of the samples that EleutherAI's lm-evaluation-harness writes with ``--log_samples``.

``samples_TASK_DATE.jsonl`` has a line for each sample and filter. Each pair of a filter and a metric is a
question, ``TASK/FILTER/METRIC``, without the filter or the metric if there is only one.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deskcheck.ask.answers.parsing import CLOSE
from deskcheck.ask.results.rows import Key, LoggedRun, ScoredSample, scored_elsewhere, scored_here, seconds
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.score import Reading, score_answer
from deskcheck.files import open_file, read_file, read_json
from deskcheck.recording import InputError

_NO_METRICS = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
}
"""Fields that are not metrics. Without a list ``metrics`` (earlier versions) the others are."""
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?)\.jsonl")


def is_samples_file(path: Path) -> bool:
    return _NAME.fullmatch(path.name) is not None


def is_summary_file(path: Path) -> bool:
    """Whether a file is named like ``results_DATE.json`` of the harness, which has no samples."""
    return path.name.startswith("results_") and path.suffix == ".json"


class SamplesFile:
    """A file of samples, and the results beside it. Raises InputError if they cannot be read."""

    def __init__(self, path: Path) -> None:
        match = _NAME.fullmatch(path.name)
        if match is None:
            raise InputError(f"{path}: is not named like samples of lm-evaluation-harness.")
        self.path = path
        self.task: str = match["task"]
        day, _, time = match["date"].partition("T")
        self.started = seconds(day + "T" + time.replace("-", ":"), path)
        self.model = path.parent.name
        """The model of the results; without results, the folder's name."""
        self.less_is_better: set[str] = set()
        results = path.with_name(f"results_{match['date']}.json")
        if results.exists():
            self._read_results(results)

    def _read_results(self, path: Path) -> None:
        try:
            results = read_json(read_file(path))
            self.model = _model(results)
            better = dict(results.get("higher_is_better", {}).get(self.task) or {})
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise InputError(f"{path}: cannot be read: {error}.") from error
        self.less_is_better = {metric for metric, higher in better.items() if higher is False}

    def score(self, metric: str, value: object) -> float | None:
        """The value of a metric, if it is a score from 0 to 1 and more is better."""
        if metric in self.less_is_better or not isinstance(value, (bool, int, float)):
            return None
        return float(value) if 0 <= value <= 1 else None

    def rows(self) -> Iterator[dict[str, Any]]:
        """The lines of the file, each a sample."""
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
                f"{self.path}, line {number}: is not a sample of lm-evaluation-harness: it has no "
                f"{sorted(missing)[0]!r}."
            )
        metrics = row.get("metrics") or []
        if not isinstance(metrics, list) or not all(isinstance(name, str) for name in metrics):
            raise InputError(f"{self.path}, line {number}: 'metrics' is not a list of names.")
        return row


def runs_in_samples(path: Path, cluster: str | None, notes: list[str]) -> Iterator[LoggedRun]:
    """The runs in a file of samples. Answers to exported questions of deskcheck are scored again.

    cluster: the field of documents whose equal values make a cluster. notes: gets a sentence about everything
    that is left out.

    Raises InputError: the file cannot be read, or a document does not have the field `cluster`.
    """
    file = SamplesFile(path)
    ours: dict[str, list[ScoredSample]] = {}
    scores: dict[tuple[str, str], list[tuple[Mapping[str, Any], float]]] = {}
    odd: Counter[str] = Counter()
    for row in file.rows():
        if (sample := sample_of(row)) is not None:
            ours.setdefault(sample.question, []).extend(_scored_again(sample, row, file.model))
            continue
        for metric in row.get("metrics") or [name for name in row if name not in _NO_METRICS]:
            score = file.score(metric, row.get(metric))
            if score is None:
                odd[metric] += 1
            else:
                scores.setdefault((str(row.get("filter", "none")), metric), []).append((row, score))
    for metric, count in odd.items():
        notes.append(
            f"{path.name}: left out: {count} values of {metric} that are not scores from 0 (worst) to 1 "
            f"(best)."
        )
    filters, metrics = ({key[part] for key in scores} for part in (0, 1))
    rows = dict(ours)
    for (filter_, metric), scored in scores.items():
        parts = (filter_ if len(filters) > 1 else "", metric if len(metrics) > 1 else "")
        question = "/".join(filter(None, (file.task, *parts)))
        rows[question] = [_scored(row, score, question, file.model, cluster) for row, score in scored]
    for question, samples in rows.items():
        key = Key(question, "", "direct", file.model)
        yield LoggedRun(key=key, folder=path.parent, started=file.started, samples=samples, excluded={})


def sample_of(row: Mapping[str, Any]) -> Sample | None:
    """The question in a row, if deskcheck asked it."""
    text = row["doc"].get("sample") if isinstance(row["doc"], dict) else None
    if not isinstance(text, str):
        return None
    try:
        return Sample.from_dict(read_json(text))
    except (ValueError, TypeError):
        return None


def answers_in(row: Mapping[str, Any]) -> list[str]:
    """The completions of a row, several if the model was asked several times."""
    responses = row["resps"]
    while isinstance(responses, list) and len(responses) == 1 and isinstance(responses[0], list):
        responses = responses[0]
    return (
        [text_of(response) for response in responses] if isinstance(responses, list) else [text_of(responses)]
    )


def _model(results: Mapping[str, Any]) -> str:
    config = dict(results.get("config") or {})
    arguments = config.get("model_args") or {}
    if isinstance(arguments, str):
        arguments = dict(pair.partition("=")[::2] for pair in arguments.split(","))
    name = arguments.get("pretrained") or arguments.get("model") or config.get("model")
    return str(name or results.get("model_name") or "unknown")


def _scored_again(sample: Sample, row: Mapping[str, Any], model: str) -> Iterator[ScoredSample]:
    for epoch, completion in enumerate(answers_in(row), 1):
        # The exported tasks have this stop word.
        scored = score_answer(sample, completion, stop_reason=CLOSE)
        yield scored_here(sample, scored, model, id=sample.id, completion=completion, epoch=epoch)


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
    """The prompt: the first argument of the first request. Both are in lists, in later versions in dicts."""
    for _ in range(2):
        values = arguments.values() if isinstance(arguments, dict) else arguments
        arguments = (
            next(iter(values), "") if isinstance(values, Iterable) and not isinstance(values, str) else values
        )
    return arguments if isinstance(arguments, str) else ""


def text_of(responses: object) -> str:
    """The response, if it is one text; otherwise (several, or likelihoods) as JSON."""
    while isinstance(responses, list) and len(responses) == 1:
        responses = responses[0]
    return responses if isinstance(responses, str) else json.dumps(responses)
