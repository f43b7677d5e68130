"""Reads what runs left behind, as results: those of `deskcheck ask` and `deskcheck offline score`, of Inspect
AI, whatever its task was, and of lm-evaluation-harness.

A run folder is read from its own tables; a folder of others from the logs in it. Statistics are made anew
from the samples, of all that is read together.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from deskcheck.ask.results.asked import Asked, Key, seconds
from deskcheck.ask.results.folder import read_card
from deskcheck.ask.results.harness_logs import asked_in_samples, is_samples_file, is_summary_file
from deskcheck.ask.results.inspect_logs import asked_in_log
from deskcheck.ask.results.offline_scores import NOT_ANSWERED, asked_in_scores, is_scores_folder
from deskcheck.ask.results.results import Result, ScoredSample, Usage, result_of
from deskcheck.files import opened_name, read_file, read_json
from deskcheck.recording import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """results: one for each question, view of the state, method and model, over all that was read. notes:
    what was passed over, a sentence each."""

    results: tuple[Result, ...]
    notes: tuple[str, ...]


class _Read:
    def __init__(self) -> None:
        self.runs: dict[Key, list[Asked]] = {}
        self.notes: list[str] = []
        self._places: set[Path] = set()

    def is_new(self, place: Path) -> bool:
        """Whether a folder or file was not read before, as another path names it or one is in the other."""
        known = place.resolve() in self._places
        self._places.add(place.resolve())
        return not known

    def add(self, run: Asked) -> None:
        self.runs.setdefault(run.key, []).append(run)

    def results(self) -> Iterator[Result]:
        """One for each key, those of a question together, models in one order. Of a sample that several runs
        have the answers of the newest count, all epochs of them; a note says what is left out."""
        questions = list(dict.fromkeys(question for question, *_ in self.runs))
        models = list(dict.fromkeys(model for *_, model in self.runs))
        order = sorted(self.runs, key=lambda key: (questions.index(key[0]), models.index(key[3])))
        for key, runs in ((key, self.runs[key]) for key in order):
            samples: list[ScoredSample] = []
            usage: list[Usage] = []
            excluded: Counter[str] = Counter()
            whose: dict[str, tuple[Asked, ScoredSample]] = {}
            runs = sorted(runs, key=lambda run: run.started, reverse=True)
            for run in runs:
                shared = [row for row in run.samples if row.id in whose]
                for row in shared:
                    newer, same = whose[row.id]
                    if row.prompt != same.prompt:
                        raise InputError(
                            f"{run.folder}: its question {row.id!r} is another one than that in "
                            f"{newer.folder}. Report of them one at a time."
                        )
                if shared:
                    self.notes.append(_older(run, [whose[row.id][0] for row in shared], key))
                own = [row for row in run.samples if row.id not in whose]
                samples += own
                usage += [row for row in run.usage if row.id not in whose]
                if not shared:
                    excluded += Counter(run.excluded)
                elif own:  # runs that share samples were asked about the same recordings
                    excluded |= Counter(run.excluded)
                whose.update((row.id, (run, row)) for row in own)
            yield result_of(*key, tuple(samples), excluded, runs[0].folder, tuple(usage))


def _older(run: Asked, newer: Sequence[Asked], key: Key) -> str:
    """newer: of each answer that is left out, the run that has a newer one."""
    question, state, method, model = key
    how = ", ".join(filter(None, (question, method, state and f"state {state}")))
    places = dict.fromkeys(str(one.folder) for one in newer)
    rest = len(run.samples) - len(newer)
    return (
        f"{' and '.join(places)} {'has' if len(places) == 1 else 'have'} newer answers of {model} ({how}) to "
        f"samples in {run.folder}: the {len(newer)} older answers are not counted"
        + (f", its {rest} others are." if rest else ".")
    )


def read_logs(paths: Sequence[str | os.PathLike[str]], *, cluster: str | None = None) -> Logs:
    """The results of run folders, Inspect's logs, samples of lm-evaluation-harness, and folders of any. Of
    samples that a model answered in the same way in several runs the newest answers count, and `Logs.notes`
    says so.

    cluster: of tasks that are not ours, the field of a sample's metadata, or of its document, by which
    samples belong together: they are no independent observations. Without it each stands alone.

    Raises:
        InputError: a path has no run in it; two samples have one id and are not the same; a sample has no
            such field.
        MissingExtra: a log of Inspect's, and Inspect AI is not installed.
    """
    read = _Read()
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{path}: no such file or folder.")
        folders = _run_folders(path) if path.is_dir() else []
        for folder in folders:
            if read.is_new(folder):
                _read_folder(folder, read)
        scores = _scores_folders(path) if path.is_dir() else []
        for folder in filter(read.is_new, scores):
            for run in asked_in_scores(folder):
                read.add(run)
                if none := sum(row.reading == NOT_ANSWERED for row in run.samples):
                    question, *_, model = run.key
                    read.notes.append(
                        f"{folder}: {model} did not answer {none} of the {question} questions: they count as "
                        "wrong."
                    )
        if folders or scores:
            continue
        if path.is_file() and is_summary_file(path):
            raise InputError(
                f"{path}: has no samples. Run lm_eval with --log_samples, and give samples_TASK_DATE.jsonl."
            )
        logs = [path]
        if path.is_dir():
            logs = sorted({*path.rglob("*.eval"), *filter(is_samples_file, path.rglob("samples_*.jsonl"))})
        if not logs:
            raise InputError(
                f"{path}: holds no run: neither samples.parquet, which `deskcheck ask` writes, nor scores of "
                "`deskcheck offline score`, nor logs of "
                "Inspect's (.eval), nor samples of lm-evaluation-harness (samples_TASK_DATE.jsonl)."
            )
        found = [
            run
            for log in filter(read.is_new, logs)
            for run in (asked_in_samples if is_samples_file(log) else asked_in_log)(log, cluster, read.notes)
        ]
        for run in sorted(found, key=lambda run: (run.started, run.key[3])):
            read.add(run)
    results = [*read.results()]
    if not results:
        raise InputError(f"{paths[0]}: there is nothing to report. " + " ".join(read.notes))
    return Logs(results=tuple(results), notes=tuple(read.notes))


def _run_folders(path: Path) -> list[Path]:
    return sorted(file.parent for file in path.rglob("samples.parquet"))


def _scores_folders(path: Path) -> list[Path]:
    return sorted(file.parent for file in path.rglob("job.json") if is_scores_folder(file.parent))


def _read_folder(folder: Path, read: _Read) -> None:
    samples: dict[Key, list[ScoredSample]] = {}
    usage: dict[Key, list[Usage]] = {}
    for row in _rows(folder / "samples.parquet"):
        scored = ScoredSample(**_known(ScoredSample, row))
        samples.setdefault((scored.question, scored.state, scored.solver, scored.model), []).append(scored)
    if (folder / "usage.parquet").exists():
        for row in _rows(folder / "usage.parquet"):
            used = Usage(**_known(Usage, row))
            usage.setdefault((used.question, used.state, used.solver, used.model), []).append(used)
    try:
        told = read_json(read_file(folder / "results.json"))
        told = told["results"] if isinstance(told, dict) else told  # a list in 0.1.0 before its release
        keys = {
            (row["question"], row["state"], row["solver"], row["model"]): dict(row["excluded"])
            for row in told
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{folder / 'results.json'}: cannot be read: {error}.") from error
    card = read_card(folder)
    started = seconds((card or {}).get("started"), folder / "results.json")
    for key in {**keys, **samples}:
        run = Asked(
            key=key,
            folder=folder,
            started=started,
            samples=samples.get(key, []),
            usage=usage.get(key, []),
            excluded=keys.get(key, {}),
        )
        read.add(run)


def _rows(path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with opened_name(path) as name:
            rows: list[dict[str, Any]] = pq.read_table(name).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from error
    return rows


def _known(kind: type[ScoredSample] | type[Usage], row: dict[str, Any]) -> dict[str, Any]:
    """What a row of this or an earlier version has of the fields."""
    return {field.name: row[field.name] for field in fields(kind) if field.name in row}
