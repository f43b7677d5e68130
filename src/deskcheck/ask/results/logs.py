"""Results of runs that are over: of `deskcheck ask`, of `deskcheck offline score`, of Inspect AI with any
task, and of lm-evaluation-harness. Statistics are computed again, over everything that is read together."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from deskcheck.ask.results.folder import read_card
from deskcheck.ask.results.harness_logs import is_samples_file, is_summary_file, runs_in_samples
from deskcheck.ask.results.inspect_logs import runs_in_log
from deskcheck.ask.results.offline_scores import NOT_ANSWERED, is_scores_folder, read_rows, runs_in_scores
from deskcheck.ask.results.results import Result, result_of
from deskcheck.ask.results.rows import Key, LoggedRun, ScoredSample, Usage, seconds
from deskcheck.files import read_file, read_json
from deskcheck.recording import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """The results of logs, one for each question, view of the state, method and model."""

    results: tuple[Result, ...]
    notes: tuple[str, ...]
    """A sentence about everything that is left out."""


def read_logs(paths: Sequence[str | os.PathLike[str]], *, cluster: str | None = None) -> Logs:
    """The results of run folders, folders of scores, logs, and folders of them. If a model answered a sample
    in the same way in several runs, the newest answers count.

    cluster: of other tasks, the field of a sample's metadata, or of its document, by which samples belong
    together. Without it each sample is a cluster.

    Raises:
        InputError: a path has no run; two different samples have one id; a sample does not have the field.
        MissingExtra: a log of Inspect's, and Inspect AI is not installed.
    """
    runs: dict[Key, list[LoggedRun]] = {}
    notes: list[str] = []
    read: set[Path] = set()
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{path}: no such file or folder.")
        for run in _runs_in(path, cluster, notes, read):
            runs.setdefault(run.key, []).append(run)
    results = [_newest(key, runs[key], notes) for key in _in_order(runs)]
    if not results:
        raise InputError(f"{paths[0]}: no runs to report on. " + " ".join(notes))
    return Logs(results=tuple(results), notes=tuple(notes))


def _in_order(keys: Sequence[Key] | dict[Key, Any]) -> list[Key]:
    """Those of a question together, and of each question the models in one order."""
    questions = list(dict.fromkeys(key.question for key in keys))
    models = list(dict.fromkeys(key.model for key in keys))
    return sorted(keys, key=lambda key: (questions.index(key.question), models.index(key.model)))


# -- several runs ----------------------------------------------------------------------------------------


def _newest(key: Key, runs: Sequence[LoggedRun], notes: list[str]) -> Result:
    """The result of runs, in which the newest answers to a sample count, with all of their epochs."""
    samples: list[ScoredSample] = []
    usage: list[Usage] = []
    excluded: Counter[str] = Counter()
    newest: dict[str, tuple[LoggedRun, ScoredSample]] = {}
    runs = sorted(runs, key=lambda run: run.started, reverse=True)
    for run in runs:
        older = [row for row in run.samples if row.id in newest]
        _check_same(run, [(row, *newest[row.id]) for row in older])
        new = [row for row in run.samples if row.id not in newest]
        samples += new
        usage += [row for row in run.usage if row.id not in newest]
        if not older:
            excluded += Counter(run.excluded)
        else:
            notes.append(_note_on_older(run, [newest[row.id][0] for row in older]))
            if new:  # runs that share samples were asked about the same recordings
                excluded |= Counter(run.excluded)
        newest.update((row.id, (run, row)) for row in new)
    return result_of(*key, tuple(samples), excluded, runs[0].folder, tuple(usage))


def _check_same(run: LoggedRun, rows: Sequence[tuple[ScoredSample, LoggedRun, ScoredSample]]) -> None:
    for row, newer, newer_row in rows:
        if row.prompt != newer_row.prompt:
            raise InputError(
                f"{run.folder}: its question {row.id!r} differs from that in {newer.folder}. Report on them "
                "one at a time."
            )


def _note_on_older(run: LoggedRun, newer: Sequence[LoggedRun]) -> str:
    """newer: for each answer of the run that does not count, the run whose answer does."""
    key = run.key
    how = ", ".join(filter(None, (key.question, key.method, key.state and f"state {key.state}")))
    places = dict.fromkeys(str(newer_run.folder) for newer_run in newer)
    have = "has" if len(places) == 1 else "have"
    counted = len(run.samples) - len(newer)
    return (
        f"{' and '.join(places)} {have} newer answers of {key.model} ({how}) "
        f"to samples in {run.folder}: the {len(newer)} older answers are not counted"
        + (f", its {counted} others are." if counted else ".")
    )


# -- one path --------------------------------------------------------------------------------------------


def _runs_in(path: Path, cluster: str | None, notes: list[str], read: set[Path]) -> Iterator[LoggedRun]:
    """The runs in a file, or in a folder and those below. read: places that were read before; they are not
    read again."""

    def is_new(path: Path) -> bool:
        before = len(read)
        read.add(path.resolve())
        return len(read) > before

    folders = sorted(file.parent for file in path.rglob("samples.parquet"))
    scores = sorted(file.parent for file in path.rglob("job.json") if is_scores_folder(file.parent))
    for folder in filter(is_new, folders):
        yield from _runs_in_folder(folder)
    for folder in filter(is_new, scores):
        for run in runs_in_scores(folder):
            yield run
            if count := sum(row.reading == NOT_ANSWERED for row in run.samples):
                notes.append(
                    f"{folder}: {run.key.model} did not answer {count} of the {run.key.question} questions. "
                    "They count as wrong."
                )
    if folders or scores:
        return
    runs = [
        run
        for log in filter(is_new, _logs_in(path))
        for run in (runs_in_samples if is_samples_file(log) else runs_in_log)(log, cluster, notes)
    ]
    yield from sorted(runs, key=lambda run: (run.started, run.key.model))


def _logs_in(path: Path) -> list[Path]:
    if path.is_file() and is_summary_file(path):
        raise InputError(
            f"{path}: has no samples. Run lm_eval with --log_samples, and give samples_TASK_DATE.jsonl."
        )
    if path.is_file():
        return [path]
    logs = sorted({*path.rglob("*.eval"), *filter(is_samples_file, path.rglob("samples_*.jsonl"))})
    if not logs:
        raise InputError(
            f"{path}: has no run: neither samples.parquet, which `deskcheck ask` writes, nor scores of "
            "`deskcheck offline score`, nor logs of "
            "Inspect's (.eval), nor samples of lm-evaluation-harness (samples_TASK_DATE.jsonl)."
        )
    return logs


def _runs_in_folder(folder: Path) -> Iterator[LoggedRun]:
    """The runs in the folder of a run of `deskcheck ask`."""
    samples: dict[Key, list[ScoredSample]] = {}
    usage: dict[Key, list[Usage]] = {}
    for row in read_rows(folder / "samples.parquet"):
        scored = ScoredSample(**_fields(ScoredSample, row))
        samples.setdefault(scored.key, []).append(scored)
    if (folder / "usage.parquet").exists():
        for row in read_rows(folder / "usage.parquet"):
            used = Usage(**_fields(Usage, row))
            usage.setdefault(used.key, []).append(used)
    file = folder / "results.json"
    try:
        results = read_json(read_file(file))
        rows = (
            results["results"] if isinstance(results, dict) else results
        )  # a list before the release of 0.1.0
        excluded = {
            Key(row["question"], row["state"], row["solver"], row["model"]): dict(row["excluded"])
            for row in rows
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{file}: cannot be read: {error}.") from error
    started = seconds((read_card(folder) or {}).get("started"), file)
    for key in {**excluded, **samples}:
        yield LoggedRun(
            key=key,
            folder=folder,
            started=started,
            samples=samples.get(key, []),
            usage=usage.get(key, []),
            excluded=excluded.get(key, {}),
        )


def _fields(kind: type[ScoredSample] | type[Usage], row: dict[str, Any]) -> dict[str, Any]:
    """The fields in a row of this version or an earlier one."""
    return {field.name: row[field.name] for field in fields(kind) if field.name in row}
