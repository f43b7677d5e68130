"""Reads what runs of `deskcheck ask` and of `inspect eval deskcheck/...` left behind, as results.

A run folder is read from its own tables; a log of Inspect's, or a folder with nothing but such logs, through
Inspect. Statistics are made anew from the samples, of all that is read together.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from deskcheck.ask.results.folder import read_card
from deskcheck.ask.results.results import Marked, Result, Usage, marked_of, result_of, usage_of
from deskcheck.recording import InputError, MissingExtra

_Key = tuple[str, str, str, str]
"""Question, view of the state, method, model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """results: one for each question, view of the state, method and model, over all that was read. notes:
    what was passed over, a sentence each."""

    results: tuple[Result, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Samples of one key that were asked together. started: in seconds since the epoch."""

    folder: Path
    started: float
    samples: Sequence[Marked]
    usage: Sequence[Usage]
    excluded: Mapping[str, int]


class _Read:
    def __init__(self) -> None:
        self.runs: dict[_Key, list[_Run]] = {}
        self.notes: list[str] = []

    def add(self, key: _Key, run: _Run) -> None:
        self.runs.setdefault(key, []).append(run)

    def results(self) -> Iterator[Result]:
        """One for each key. Of a sample that several runs have the answers of the newest count, all
        epochs of them; a note says what is left out."""
        for key, runs in self.runs.items():
            samples: list[Marked] = []
            usage: list[Usage] = []
            excluded: Counter[str] = Counter()
            whose: dict[str, tuple[_Run, Marked]] = {}
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


def _older(run: _Run, newer: Sequence[_Run], key: _Key) -> str:
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


def read_logs(paths: Sequence[str | os.PathLike[str]]) -> Logs:
    """The results of run folders, Inspect's logs, and folders of either. Of samples that a model
    answered in the same way in several runs the newest answers count, and `Logs.notes` says so.

    Raises:
        InputError: a path has no run in it; two samples have one id and are not the same.
        MissingExtra: a log of Inspect's, and Inspect AI is not installed.
    """
    read = _Read()
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{path}: no such file or folder.")
        folders = _run_folders(path) if path.is_dir() else []
        for folder in folders:
            _read_folder(folder, read)
        if folders:
            continue
        logs = sorted(path.rglob("*.eval")) if path.is_dir() else [path]
        if not logs:
            raise InputError(
                f"{path}: holds no run: neither samples.parquet, which `deskcheck ask` writes, nor logs of "
                "Inspect's (.eval)."
            )
        for log in logs:
            _read_log(log, read)
    results = [*read.results()]
    if not results:
        raise InputError(f"{paths[0]}: there is nothing to report. " + " ".join(read.notes))
    return Logs(results=tuple(results), notes=tuple(read.notes))


def _run_folders(path: Path) -> list[Path]:
    return sorted(file.parent for file in path.rglob("samples.parquet"))


def _read_folder(folder: Path, read: _Read) -> None:
    samples: dict[_Key, list[Marked]] = {}
    usage: dict[_Key, list[Usage]] = {}
    for row in _rows(folder / "samples.parquet"):
        marked = Marked(**_known(Marked, row))
        samples.setdefault((marked.question, marked.state, marked.solver, marked.model), []).append(marked)
    if (folder / "usage.parquet").exists():
        for row in _rows(folder / "usage.parquet"):
            used = Usage(**_known(Usage, row))
            usage.setdefault((used.question, used.state, used.solver, used.model), []).append(used)
    try:
        told = json.loads((folder / "results.json").read_text())
        told = told["results"] if isinstance(told, dict) else told  # a list in 0.1.0 before its release
        keys = {
            (row["question"], row["state"], row["solver"], row["model"]): dict(row["excluded"])
            for row in told
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder / 'results.json'}: cannot be read: {error}.") from error
    card = read_card(folder)
    started = _seconds((card or {}).get("started"), folder / "results.json")
    for key in {**keys, **samples}:
        run = _Run(
            folder=folder,
            started=started,
            samples=samples.get(key, []),
            usage=usage.get(key, []),
            excluded=keys.get(key, {}),
        )
        read.add(key, run)


def _seconds(told: object, file: Path) -> float:
    """A time as a card or a log tells it; where none is told, that of the file."""
    try:
        return datetime.fromisoformat(str(told)).timestamp()
    except ValueError:
        return file.stat().st_mtime


def _rows(path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from error
    return rows


def _known(kind: type[Marked] | type[Usage], row: dict[str, Any]) -> dict[str, Any]:
    """What a row of this or an earlier version has of the fields."""
    return {field.name: row[field.name] for field in fields(kind) if field.name in row}


def _read_log(path: Path, read: _Read) -> None:
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise MissingExtra("inspect-ai", "ask", f"Reading {path.name}") from error
    try:
        log = read_eval_log(str(path))
    except Exception as error:  # whatever a reader of foreign files raises on what is no log
        raise InputError(f"{path}: is no log of Inspect's that can be read: {error}") from error
    about = log.eval.metadata or {}
    if "question" not in about:
        read.notes.append(f"{path.name} is no task of deskcheck's ({log.eval.task}).")
        return
    if log.status != "success":
        read.notes.append(f"{path.name} did not finish ({log.status}) and is left out.")
        return
    key = (
        str(about["question"]),
        str(about.get("state", "")),
        str(about.get("method") or _solver(log.plan.steps)),
        log.eval.model,
    )
    samples = log.samples or []
    scored = [sample for sample in samples if (sample.scores or {}).get("marked") is not None]
    unfit = Counter(str(sample.metadata["unfit"]) for sample in samples if "unfit" in sample.metadata)
    log.samples = [sample for sample in scored if "unfit" not in sample.metadata]
    run = _Run(
        folder=path.parent,
        started=_seconds(log.eval.created, path),
        samples=list(marked_of(log, key[0], key[1], key[2])),
        usage=list(usage_of(log, key[0], key[1], key[2])),
        excluded=Counter(about.get("excluded") or {}) + unfit,
    )
    read.add(key, run)


def _solver(steps: Sequence[Any]) -> str:
    """The method that a log names, `direct` for none."""
    return str(steps[-1].solver).removeprefix("deskcheck/") if steps else "direct"
