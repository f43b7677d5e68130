"""Lessons: recordings as rows that a model learns from. docs/reference/lessons.md describes the columns.

`build` makes shards of so many programs, in the order of their first runs, which are complete or absent.
Called again on the same folder, it resumes. Nothing is truncated, and nothing is left out silently:
``lessons.json`` counts the recordings without lessons by reason.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from deskcheck.files import FolderLock, disk_errors, read_file, read_json, sync
from deskcheck.recording import InputError, RecordingError
from deskcheck.recording.reader import Recordings
from deskcheck.sources import programs
from deskcheck.sources.near import HeldOut
from deskcheck.teach.lessons import mixing, questions
from deskcheck.teach.lessons.census import Census, PlacedRecordings, census_of, make_lessons
from deskcheck.teach.lessons.making import Maker, schema_of
from deskcheck.teach.lessons.settings import LessonSettings, LessonSummary, counted, program_sha256
from deskcheck.teach.lessons.shards import STATE_NAME, LessonShard, shard_files
from deskcheck.teach.lessons.tokens import AnyTokenizer, open_tokenizer

__all__ = ["LessonSettings", "LessonSummary", "build", "program_sha256"]

FORMAT = 1
_SHARD_PROGRAMS = 1000
_UNWRITTEN = 100
"""Stop after this many lessons if the tokenizer can write none of them."""


def build(
    runs: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    settings: LessonSettings | None = None,
    *,
    progress: Callable[[int, int], None] = lambda finished, total: None,
    note: Callable[[str], None] = lambda text: None,
) -> LessonSummary:
    """Write the lessons of folders of recordings into a folder, or those that are missing there.

    progress: receives the number of finished recordings, and the number of all.

    Raises:
        InputError: no lesson would remain; the folder has lessons of other settings or recordings.
        RecordingError: recordings cannot be read, or the folder cannot be written.
    """
    settings = settings or LessonSettings()
    tokenizer, held_out, census = read_all(runs, settings, note)
    folder = Path(out)
    with disk_errors(folder, "write lessons here"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder)
    try:
        summary = _Builder(folder, settings, tokenizer, held_out, census).build(progress)
        mixing.add_mixed(folder, settings, tokenizer, summary, note)
        return summary
    finally:
        lock.release()


def read_all(
    runs: Sequence[str | os.PathLike[str]], settings: LessonSettings, note: Callable[[str], None]
) -> tuple[AnyTokenizer, HeldOut, Census]:
    """Everything that decides lessons. Raises the errors of `build` that need no lesson."""
    tokenizer = open_tokenizer(settings.tokenizer)
    questions.check(settings)
    mixing.mixes_of(settings)
    folders = [_open_recordings(folder) for folder in runs]
    held_out = HeldOut(_held_out_programs(settings, note))
    census = census_of(folders, settings)
    if census.not_cleared:
        count = sum(census.not_cleared.values())
        note(f"{count} recordings are not cleared for training and left out: {counted(census.not_cleared)}")
    return tokenizer, held_out, census


def _open_recordings(folder: str | os.PathLike[str]) -> Recordings:
    path = Path(folder)
    notebooks = path.is_dir() and any(path.rglob("*.trajectory.parquet"))
    if notebooks and not any(path.glob("recordings-*.parquet")):
        raise InputError(
            f"{path}: has trajectories of notebooks. Name a folder of recordings of programs (deskcheck "
            "record FILE.py ... --out FOLDER)."
        )
    return Recordings(path)


def _held_out_programs(settings: LessonSettings, note: Callable[[str], None]) -> Iterator[tuple[str, str]]:
    """The programs to leave out, each with the name of its set.

    Raises InputError for a set whose programs are all in the sets before it.
    """
    codes: set[str] = set()
    for source in settings.without:
        before = len(codes)
        for program in programs(source, note=note):
            if program.code not in codes:
                codes.add(program.code)
                yield source.partition(":")[0], program.code
        if len(codes) == before:
            raise InputError(f"without {source!r}: leave it out, all its programs are in earlier sets.")


def refuse_nothing(summary: LessonSummary, settings: LessonSettings) -> None:
    """Raise InputError, with the reasons, if there are no lessons."""
    if summary.lessons:
        return
    shortest = summary.shortest_left_out
    over = f" The shortest has {shortest} tokens; the budget is {settings.budget}." if shortest else ""
    reasons: Counter[str] = Counter()
    for counts in summary.left_out.values():
        reasons.update(counts)
    line = " dynamic_instruction needs recordings made with --granularity instruction."
    raise InputError(
        f"no lesson is left: {counted(reasons)}.{over}{line if reasons['recorded by line'] else ''}"
    )


def write_state(
    folder: Path,
    head: dict[str, Any],
    summary: LessonSummary,
    *,
    complete: bool = True,
    shards: int = 0,
) -> None:
    """Write ``lessons.json``. shards: number of complete ones."""
    position = {"recordings": summary.recordings, "shards": shards}
    state = head | {"complete": complete, "position": position, "summary": summary.to_dict()}
    path = folder / STATE_NAME
    part = path.with_name(f"{STATE_NAME}.part")
    with disk_errors(path, "save the progress of the lessons"):
        part.write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
        sync(part)
        os.replace(part, path)
        sync(folder)


def state_head(settings: LessonSettings, recordings_sha256: str, held_out_sha256: str) -> dict[str, Any]:
    """The beginning of ``lessons.json``. Lessons with a different one are different lessons."""
    return {
        "format": FORMAT,
        "settings": settings.to_dict(),
        "recordings_sha256": recordings_sha256,
        "held_out_sha256": held_out_sha256,
    }


class _Builder:
    """Writes the missing shards. ``lessons.json`` has all data to resume from."""

    def __init__(
        self,
        folder: Path,
        settings: LessonSettings,
        tokenizer: AnyTokenizer,
        held_out: HeldOut,
        census: Census,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.tokenizer = tokenizer
        self.held_out = held_out
        self.census = census
        self.summary = LessonSummary()
        self.shards = 0
        """Number of complete shards."""
        self.complete = False

    def build(self, progress: Callable[[int, int], None]) -> LessonSummary:
        self._go_on()
        if self.complete:
            return self.summary
        runs = self.census.runs()
        if sum(map(len, islice(runs, self.shards * _SHARD_PROGRAMS))) != self.summary.recordings:
            raise InputError(
                f"{self.folder}: another version of deskcheck was interrupted while it made these lessons. "
                "Delete the folder, or choose another."
            )
        self._save()  # refuses the folder to others from now on
        while programs := list(islice(runs, _SHARD_PROGRAMS)):
            self._make(programs, progress)
            self._save()
        try:
            refuse_nothing(self.summary, self.settings)
        except InputError:
            self._remove()  # the folder is free for other settings
            raise
        self.complete = True
        self._save()
        return self.summary

    def _make(self, programs: list[list[int]], progress: Callable[[int, int], None]) -> None:
        """Make the shard of some programs."""

        def after(maker: Maker) -> None:
            self._refuse_unwritten(maker)
            progress(self.summary.recordings + maker.summary.recordings, len(self.census))

        places = (self.census.place(number) for runs in programs for number in runs)
        recordings = PlacedRecordings([folder.folder for folder in self.census.folders], places)
        shard = LessonShard(self.folder, f"{self.shards:05d}", schema_of(self.settings, self.tokenizer))
        about = self.settings, self.tokenizer, self.held_out
        self.summary.add(make_lessons(recordings, shard, *about, after))
        self.shards += 1

    def _remove(self) -> None:
        for path, _, _ in shard_files(self.folder):
            path.unlink()
        (self.folder / STATE_NAME).unlink(missing_ok=True)

    def _refuse_unwritten(self, maker: Maker) -> None:
        """Raise InputError if the tokenizer could write none of the first lessons."""
        unwritten = maker.unwritten.total()
        if unwritten >= _UNWRITTEN and not maker.summary.kept and not self.summary.kept:
            reason = maker.unwritten.most_common(1)[0][0]
            self._remove()
            raise InputError(
                f"tokenizer {self.settings.tokenizer!r}: none of the first {unwritten} lessons can be used: "
                f"{reason}. Choose another tokenizer."
            )

    # -- going on ------------------------------------------------------------------------------

    def _head(self) -> dict[str, Any]:
        return state_head(self.settings, self.census.sha256, self.held_out.sha256)

    def _go_on(self) -> None:
        """Resume from the files of an earlier builder."""
        path = self.folder / STATE_NAME
        if not path.exists():
            files = sorted(path.name for path in self.folder.glob("*.parquet"))
            if (self.folder / "job.json").exists():
                raise InputError(
                    f"{self.folder}: has an unfinished job. Resume it by its own command (--shards), or "
                    "choose another folder."
                )
            if files:
                raise InputError(
                    f"{self.folder}: has {files[0]} but no {STATE_NAME}, so deskcheck did not make it. "
                    "Choose another folder."
                )
            return
        try:
            state = read_json(read_file(path))
            had = {key: state[key] for key in self._head()}
            summary, position = LessonSummary(**state["summary"]), state["position"]
        except (ValueError, KeyError, TypeError) as error:
            raise RecordingError(
                f"{path}: damaged: {error!r}. Delete the folder, or choose another.", str(path)
            ) from error
        head = json.loads(json.dumps(self._head()))
        if had != head:
            self._refuse_others(had, head)
        self.summary, self.complete, self.shards = summary, state["complete"], position["shards"]
        if self.complete:
            self._refuse_damaged()
        for path, number, named in shard_files(self.folder):
            if not self.complete and (not named or number >= self.shards):
                path.unlink()

    def _refuse_damaged(self) -> None:
        for path, _, _ in shard_files(self.folder):
            try:
                pq.read_metadata(path)
            except (OSError, ValueError) as error:
                raise RecordingError(
                    f"{path}: damaged: {error}. Delete the folder, or choose another.", str(path)
                ) from error

    def _refuse_others(self, had: dict[str, Any], head: dict[str, Any]) -> None:
        if had["recordings_sha256"] != head["recordings_sha256"]:
            what = "of other recordings, or of fewer"
        elif had["settings"] == head["settings"] and had["held_out_sha256"] != head["held_out_sha256"]:
            what = f"made before {', '.join(self.settings.without)} changed"
        else:
            both = {**had["settings"], **head["settings"]}
            differences = [
                f"{name}={had['settings'].get(name)!r}, not {head['settings'].get(name)!r}"
                for name in both
                if had["settings"].get(name) != head["settings"].get(name)
            ]
            what = f"made with {'; '.join(differences) or 'another version of deskcheck'}"
        raise InputError(f"{self.folder}: has lessons {what}. Choose another folder, or delete this one.")

    def _save(self) -> None:
        write_state(self.folder, self._head(), self.summary, complete=self.complete, shards=self.shards)
