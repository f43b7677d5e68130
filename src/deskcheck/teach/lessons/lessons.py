"""Lessons: recordings as rows that a model learns from. docs/reference/lessons.md describes the columns.

`build` reads recordings in their order, in flat memory, and writes shards that are whole or absent; started
again on the same folder it goes on where it was. What gives no lesson is counted by its reason in
``lessons.json``, beside the shards: nothing is cut, nothing is left out silently. A first pass reads the
programs alone, so that what cannot come to anything is said before hours are spent.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from deskcheck.files import FolderLock, disk_errors, read_file, read_json, sync
from deskcheck.recording import InputError, Recording, RecordingError
from deskcheck.recording.reader import Recordings
from deskcheck.sources import programs
from deskcheck.sources.near import HeldOut
from deskcheck.teach.lessons.making import Maker
from deskcheck.teach.lessons.runs import Choice
from deskcheck.teach.lessons.settings import LessonSettings, LessonSummary, counted, program_sha256
from deskcheck.teach.lessons.shards import STATE_NAME, LessonShard, shard_files
from deskcheck.teach.lessons.tokens import AnyTokenizer, open_tokenizer

__all__ = ["LessonSettings", "LessonSummary", "build", "program_sha256"]

FORMAT = 1
_SHARD_ROWS = 100_000
_SHARD_BYTES = 256 << 20
_UNWRITTEN = 100
"""So many lessons that the tokenizer cannot write, and no other, are enough."""


def build(
    runs: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    settings: LessonSettings | None = None,
    *,
    progress: Callable[[int, int], None] = lambda done, of: None,
    note: Callable[[str], None] = lambda text: None,
) -> LessonSummary:
    """Write the lessons of folders of recordings into a folder, or what is missing of them.

    progress: told how many recordings are done, of how many.

    Raises:
        InputError: nothing would be left; the folder holds lessons of other settings or recordings.
        RecordingError: recordings cannot be read, or the folder not be written to.
    """
    settings = settings or LessonSettings()
    tokenizer = open_tokenizer(settings.tokenizer)
    recordings = _All([open_recordings(folder) for folder in runs])
    held_out = HeldOut()
    for name, code in held_out_programs(settings, note):
        held_out.add(name, code)
    choice = Choice(recordings, settings, tokenizer, held_out)
    choice.refuse_what_leaves_nothing()
    note_not_cleared(choice.not_cleared, note)
    folder = Path(out)
    with disk_errors(folder, "write lessons here"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder)
    try:
        return _Builder(folder, settings, tokenizer, choice).build(progress)
    finally:
        lock.release()


class _All:
    """The recordings of several folders, one after another."""

    def __init__(self, folders: list[Recordings]) -> None:
        self.folders = folders

    def __iter__(self) -> Iterator[Recording]:
        for folder in self.folders:
            yield from folder


def open_recordings(folder: str | os.PathLike[str]) -> Recordings:
    path = Path(folder)
    notebooks = path.is_dir() and any(path.rglob("*.trajectory.parquet"))
    if notebooks and not any(path.glob("recordings-*.parquet")):
        raise InputError(
            f"{path}: holds trajectories of notebooks. Lessons are made of recordings of programs "
            "(deskcheck record FILE.py ... --out FOLDER): name such a folder."
        )
    return Recordings(path)


def held_out_programs(settings: LessonSettings, note: Callable[[str], None]) -> Iterator[tuple[str, str]]:
    """Programs that no lesson may be made of, each with the name of its set. Raises InputError where a set
    has none that was not named before it."""
    codes: set[str] = set()
    for source in settings.without:
        before = len(codes)
        for program in programs(source, note=note):
            if program.code not in codes:
                codes.add(program.code)
                yield source.partition(":")[0], program.code
        if len(codes) == before:
            raise InputError(f"without {source!r}: has no programs that were not named before it.")


def note_not_cleared(not_cleared: dict[str, int], note: Callable[[str], None]) -> None:
    if not_cleared:
        count = sum(not_cleared.values())
        note(f"{count} recordings are not cleared for training and left out: {counted(not_cleared)}")


def refuse_nothing(summary: LessonSummary, settings: LessonSettings) -> None:
    """Raise InputError where no lesson was made, with the reasons."""
    if summary.lessons:
        return
    shortest = summary.shortest_left_out
    over = f" The shortest has {shortest} tokens; the budget is {settings.budget}." if shortest else ""
    reasons: Counter[str] = Counter()
    for counts in summary.left_out.values():
        reasons.update(counts)
    raise InputError(f"no lesson is left: {counted(reasons)}.{over}")


def write_state(
    folder: Path,
    head: dict[str, Any],
    summary: LessonSummary,
    *,
    complete: bool = True,
    recordings: int = 0,
    shards: int = 0,
) -> None:
    """Write ``lessons.json``. recordings, shards: how many are done."""
    position = {"recordings": recordings, "shards": shards}
    state = head | {"complete": complete, "position": position, "summary": summary.to_dict()}
    path = folder / STATE_NAME
    part = path.with_name(f"{STATE_NAME}.part")
    with disk_errors(path, "save how far the lessons are"):
        part.write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
        sync(part)
        os.replace(part, path)
        sync(folder)


def state_head(settings: LessonSettings, recordings_sha256: str, held_out_sha256: str) -> dict[str, Any]:
    """What ``lessons.json`` begins with: lessons of another are others."""
    return {
        "format": FORMAT,
        "settings": asdict(settings),
        "recordings_sha256": recordings_sha256,
        "held_out_sha256": held_out_sha256,
    }


class _Builder:
    """Writes the missing shards. ``lessons.json`` has everything that a later start needs."""

    def __init__(
        self, folder: Path, settings: LessonSettings, tokenizer: AnyTokenizer, choice: Choice
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.choice = choice
        self.maker = Maker(settings, tokenizer, choice)
        self.done = 0
        """Recordings whose lessons are in shards."""
        self.shards = 0
        self.complete = False

    @property
    def summary(self) -> LessonSummary:
        return self.maker.summary

    def build(self, progress: Callable[[int, int], None]) -> LessonSummary:
        self._go_on()
        if self.complete:
            return self.summary
        self.summary.programs = self.choice.usable
        if not self.done:
            self._save()  # refuses the folder to others from now on
        shard = self._begin_shard()
        try:
            for number, recording in enumerate(self.choice.recordings):
                if number >= self.done:
                    self.maker.add(number, recording, shard)
                    self._refuse_unwritten()
                self.maker.finished(number, recording)
                if number < self.done:
                    continue
                if shard.rows >= _SHARD_ROWS or shard.size_bytes >= _SHARD_BYTES:
                    self._finish(shard, number + 1)
                    shard = self._begin_shard()
                progress(number + 1, self.choice.count)
            self.complete = True
            self._finish(shard, self.choice.count)
            refuse_nothing(self.summary, self.settings)
        except BaseException as error:
            shard.abandon()
            if isinstance(error, InputError) and not self.summary.lessons:
                self._remove()  # nothing came of it: the folder is free for other settings
            raise
        return self.summary

    def _remove(self) -> None:
        for path, _, _ in shard_files(self.folder):
            path.unlink()
        (self.folder / STATE_NAME).unlink(missing_ok=True)

    def _refuse_unwritten(self) -> None:
        """Stop where nothing but this has come of the first lessons."""
        unwritten = self.maker.unwritten.total()
        if unwritten >= _UNWRITTEN and not self.summary.kept:
            reason = self.maker.unwritten.most_common(1)[0][0]
            raise InputError(
                f"tokenizer {self.settings.tokenizer!r}: none of the first {unwritten} lessons can be used: "
                f"{reason}. Choose another tokenizer."
            )

    # -- going on ------------------------------------------------------------------------------

    def _head(self) -> dict[str, Any]:
        return state_head(self.settings, self.choice.recordings_sha256, self.choice.held_out.sha256)

    def _go_on(self) -> None:
        """Take up what an earlier builder left."""
        path = self.folder / STATE_NAME
        if not path.exists():
            files = sorted(path.name for path in self.folder.glob("*.parquet"))
            if (self.folder / "job.json").exists():
                raise InputError(
                    f"{self.folder}: holds a job that is not whole: go on with its own command (--shards), "
                    "or choose another folder."
                )
            if files:
                raise InputError(
                    f"{self.folder}: holds {files[0]} and no {STATE_NAME}: it was made by something else. "
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
        self.maker.summary, self.complete = summary, state["complete"]
        self.done, self.shards = position["recordings"], position["shards"]
        if self.complete:
            self._refuse_damaged()
        open_programs = self._open_programs()
        for path, number, named in shard_files(self.folder):
            if not named or number >= self.shards:
                path.unlink()
            elif open_programs:
                for batch in pq.ParquetFile(path).iter_batches(columns=["program_sha256", "key"]):
                    for sha, key in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                        if (program := bytes.fromhex(sha)) in open_programs:
                            self.maker.seen[program].add(key)

    def _refuse_damaged(self) -> None:
        for path, _, _ in shard_files(self.folder):
            try:
                pq.read_metadata(path)
            except (OSError, ValueError) as error:
                raise RecordingError(
                    f"{path}: damaged: {error}. Delete the folder, or choose another.", str(path)
                ) from error

    def _refuse_others(self, had: dict[str, Any], wanted: dict[str, Any]) -> None:
        if had["recordings_sha256"] != wanted["recordings_sha256"]:
            what = "of other recordings, or there are more of them now"
        elif had["settings"] == wanted["settings"] and had["held_out_sha256"] != wanted["held_out_sha256"]:
            what = f"made without other programs: {', '.join(self.settings.without)} changed"
        else:
            both = {**had["settings"], **wanted["settings"]}
            differences = [
                f"{name}={had['settings'].get(name)!r}, not {wanted['settings'].get(name)!r}"
                for name in both
                if had["settings"].get(name) != wanted["settings"].get(name)
            ]
            what = f"made with {'; '.join(differences) or 'another version of deskcheck'}"
        raise InputError(f"{self.folder}: holds lessons {what}. Choose another folder, or delete this one.")

    def _open_programs(self) -> set[bytes]:
        """Programs with runs that are done and runs that are not."""
        runs_done: Counter[bytes] = Counter()
        for number, recording in enumerate(self.choice.recordings):
            if number >= self.done:
                break
            if number not in self.choice.refused:
                runs_done[bytes.fromhex(program_sha256(recording.program.code))] += 1
        return {sha for sha, count in runs_done.items() if count < self.choice.programs[sha].left}

    def _save(self) -> None:
        write_state(
            self.folder,
            self._head(),
            self.summary,
            complete=self.complete,
            recordings=self.done,
            shards=self.shards,
        )

    def _begin_shard(self) -> LessonShard:
        return LessonShard(self.folder, f"{self.shards:05d}", self.maker.schema)

    def _finish(self, shard: LessonShard, done: int) -> None:
        self.maker.flush(shard)
        shard.finish()
        self.done = done
        self.shards += 1
        self._save()
