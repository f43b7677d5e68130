"""Reads what runs of `deskcheck ask` and of `inspect eval deskcheck/...` left behind, as results.

A run folder is read from its own tables; a log of Inspect's, or a folder with nothing but such logs, through
Inspect. Statistics are made anew from the samples, of all that is read together.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from deskcheck.ask.run import Marked, Result, Usage, marked_of, result_of, usage_of
from deskcheck.recording import InputError, MissingExtra

_Key = tuple[str, str, str, str]
"""Question, view of the state, method, model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """results: one for each question, view of the state, method and model, over all that was read. notes:
    what was passed over, a sentence each."""

    results: tuple[Result, ...]
    notes: tuple[str, ...]


class _Read:
    def __init__(self) -> None:
        self.samples: dict[_Key, list[Marked]] = {}
        self.usage: dict[_Key, list[Usage]] = {}
        self.excluded: dict[_Key, Counter[str]] = {}
        self.folders: dict[_Key, Path] = {}
        self.notes: list[str] = []

    def add(
        self,
        folder: Path,
        key: _Key,
        samples: Sequence[Marked],
        usage: Sequence[Usage],
        excluded: Iterable[tuple[str, int]],
    ) -> None:
        known = self.samples.setdefault(key, [])
        twice = {row.id for row in known} & {row.id for row in samples}
        if twice:
            _, state, method, model = key
            how = f"{method}, state {state}" if state else method
            raise InputError(
                f"{folder}: {model} was asked {min(twice)!r} ({how}) in {self.folders[key]} too: give one of "
                "the two."
            )
        known += samples
        self.usage.setdefault(key, []).extend(usage)
        self.excluded.setdefault(key, Counter()).update(dict(excluded))
        self.folders[key] = folder


def read_logs(paths: Sequence[str | os.PathLike[str]]) -> Logs:
    """The results of run folders, Inspect's logs, and folders of either.

    Raises:
        InputError: a path has no run in it; a sample was answered twice by the same model in the same way.
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
    results = [
        result_of(
            key[0],
            key[1],
            key[2],
            key[3],
            tuple(samples),
            read.excluded[key],
            read.folders[key],
            tuple(read.usage[key]),
        )
        for key, samples in read.samples.items()
    ]
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
        keys = {
            (row["question"], row["state"], row["solver"], row["model"]): dict(row["excluded"])
            for row in told
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder / 'results.json'}: cannot be read: {error}.") from error
    for key in {**keys, **samples}:
        excluded = keys.get(key, {})
        read.add(folder, key, samples.get(key, []), usage.get(key, []), excluded.items())


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
    marked = list(marked_of(log, key[0], key[1], key[2]))
    usage = list(usage_of(log, key[0], key[1], key[2]))
    read.add(path.parent, key, marked, usage, [*(about.get("excluded") or {}).items(), *unfit.items()])


def _solver(steps: Sequence[Any]) -> str:
    """The method that a log names, `direct` for none."""
    return str(steps[-1].solver).removeprefix("deskcheck/") if steps else "direct"
