"""Reads what EleutherAI's lm-evaluation-harness writes with ``--log_samples``: ``samples_TASK_DATE.jsonl``, a
line for each sample and filter, beside ``results_DATE.json``.

Each metric and each filter is a question of its own: ``TASK``, ``TASK/FILTER`` where there are several
filters, ``TASK/METRIC`` where there are several metrics. Left out, with a word: metrics that are no number
from 0 to 1 for each sample, as perplexities are.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deskcheck.ask.results.asked import Asked, seconds
from deskcheck.ask.results.results import Marked
from deskcheck.ask.scoring.marking import Reading
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


def asked_in_samples(path: Path, cluster: str | None, notes: list[str]) -> Iterator[Asked]:
    """What a file of samples holds. cluster: the field of the documents by which they belong together;
    without it each stands alone. notes: what is passed over is told there.

    Raises InputError: it cannot be read, or a document has no such field.
    """
    named = _NAME.fullmatch(path.name)
    if named is None:
        raise InputError(f"{path}: is not named as samples of lm-evaluation-harness are.")
    task = named["task"]
    day, _, time = named["date"].partition("T")
    model, less_is_better = _run(path, task, named["date"])
    found: dict[tuple[str, str], list[tuple[Mapping[str, Any], float]]] = {}
    odd: Counter[str] = Counter()
    for number, row in enumerate(_rows(path), 1):
        if missing := {"doc_id", "doc", "target", "resps", "filtered_resps"} - row.keys():
            raise InputError(
                f"{path}, line {number}: is no sample of lm-evaluation-harness: it has no "
                f"{sorted(missing)[0]!r}."
            )
        for metric in row.get("metrics") or [name for name in row if name not in _NO_METRICS]:
            value = row.get(metric)
            if metric not in less_is_better and isinstance(value, (bool, int, float)) and 0 <= value <= 1:
                each = found.setdefault((str(row.get("filter", "none")), metric), [])
                each.append((row, float(value)))
            else:
                odd[metric] += 1
    for metric, count in odd.items():
        notes.append(
            f"{path.name}: {count} values of {metric} are no scores from 0 to 1 where more is better, and "
            "are left out."
        )
    filters, metrics = ({key[part] for key in found} for part in (0, 1))
    for (kept, metric), rows in found.items():
        parts = (kept if len(filters) > 1 else "", metric if len(metrics) > 1 else "")
        question = "/".join(filter(None, (task, *parts)))
        yield Asked(
            key=(question, "", "direct", model),
            folder=path.parent,
            started=seconds(day + "T" + time.replace("-", ":"), path),
            samples=[_marked(row, score, question, model, cluster) for row, score in rows],
            excluded={},
        )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                yield dict(json.loads(line))
            except (ValueError, TypeError, RecursionError) as error:
                raise InputError(f"{path}, line {number}: is no JSON object: {error}.") from error


def _run(path: Path, task: str, date: str) -> tuple[str, set[str]]:
    """The model, and the metrics of which less is better, as the results beside the samples tell."""
    beside = path.with_name(f"results_{date}.json")
    if not beside.exists():
        return path.parent.name, set()
    try:
        told = json.loads(beside.read_text(encoding="utf-8"))
        better = dict(told.get("higher_is_better", {}).get(task) or {})
        return _model(told), {metric for metric, higher in better.items() if higher is False}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InputError(f"{beside}: cannot be read: {error}.") from error


def _model(told: Mapping[str, Any]) -> str:
    """The name of the weights or of the served model; where none is told, the kind of model."""
    config = dict(told.get("config") or {})
    given = config.get("model_args") or {}
    if isinstance(given, str):
        given = dict(pair.partition("=")[::2] for pair in given.split(","))
    named = given.get("pretrained") or given.get("model") or config.get("model")
    return str(named or told.get("model_name") or "unknown")


def _marked(row: Mapping[str, Any], score: float, question: str, model: str, cluster: str | None) -> Marked:
    doc = dict(row["doc"]) if isinstance(row["doc"], dict) else {}
    if cluster is not None and cluster not in doc:
        raise InputError(
            f"{question}: a document has no {cluster!r}: it has {', '.join(doc) or 'no fields'}."
        )
    id_ = str(row["doc_id"])
    said = _text(row["filtered_resps"])
    return Marked(
        id=id_,
        program=id_,
        cluster=id_ if cluster is None else str(doc[cluster]),
        question=question,
        model=model,
        solver="direct",
        completion=_text(row["resps"]),
        answer=said,
        expected=str(row["target"]),
        score=score,
        reason="",
        data=json.dumps({name: value for name, value in doc.items() if isinstance(value, (str, int, float))}),
        reading=Reading.ANSWERED.value,
        prompt=_prompt(row.get("arguments")),
    )


def _prompt(arguments: object) -> str:
    """What the model was given first; a list of lists in earlier versions."""
    for _ in range(2):
        some = arguments.values() if isinstance(arguments, dict) else arguments
        arguments = next(iter(some), "") if isinstance(some, Iterable) and not isinstance(some, str) else some
    return arguments if isinstance(arguments, str) else ""


def _text(responses: object) -> str:
    """One response as it is; several, or those with likelihoods, as JSON."""
    while isinstance(responses, list) and len(responses) == 1:
        responses = responses[0]
    return responses if isinstance(responses, str) else json.dumps(responses)
