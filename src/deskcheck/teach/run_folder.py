"""The folder of a training run, for one process at a time.

It contains `run.json` (all settings and inputs), `metrics.jsonl` (a line for each report), the model, and the
state from which the same command resumes.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deskcheck.files import LOCK_NAME, FolderLock, disk_errors, read_file, read_json
from deskcheck.recording import InputError, RecordingError

RUN = "run.json"
METRICS = "metrics.jsonl"
CHECKPOINTS = "checkpoints"
LESSONS = "lessons"
"""Where `deskcheck teach RECORDINGS` makes the lessons of a run."""


def lock_run(out: Path) -> FolderLock:
    """Locks the folder of a new or an earlier run. Call `release` at the end.

    Raises:
        InputError: the folder contains something else.
        RecordingError: the folder cannot be made; another process uses it.
    """
    with disk_errors(out, "write the model here"):
        out.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(out)
        try:
            refuse_others(out, {})
        except BaseException:
            lock.release()
            raise
    return lock


def refuse_others(out: Path, settings: dict[str, Any]) -> None:
    """Raise InputError if a folder contains something other than a run with these settings.

    A run without a save may have other settings. Raises RecordingError if its files cannot be read."""
    if not out.is_dir():
        return
    before = _asked(out)
    if before is None:
        if any(path.name not in (LOCK_NAME, LESSONS) for path in out.iterdir()):
            raise InputError(f"{out}: is neither empty nor a training run. Choose another folder.")
        return
    if not _saved(out):
        return
    changed = [name for name in settings if before.get(name) != settings[name]]
    if changed:
        raise InputError(
            f"{out}: has a run with other {' and '.join(changed)} (see {RUN}). Choose another folder, or "
            "repeat the settings to resume that run."
        )


def begin_run(out: Path, settings: dict[str, Any]) -> None:
    """Writes the settings of a run. If it has settings already, compares them by `refuse_others`."""
    refuse_others(out, settings)
    if not _saved(out):
        write_json(out / RUN, settings)


@contextmanager
def locked_run(out: Path, settings: dict[str, Any]) -> Iterator[None]:
    """A run with these settings in a locked folder. Raises the errors of `lock_run` and `begin_run`."""
    lock = lock_run(out)
    try:
        begin_run(out, settings)
        yield
    finally:
        lock.release()


def _saved(out: Path) -> bool:
    """Whether there is a model, or a save to continue from."""
    others = {path.name for path in out.iterdir()} - {LOCK_NAME, LESSONS, RUN, METRICS, CHECKPOINTS}
    return bool(others) or any(out.glob(f"{CHECKPOINTS}/checkpoint-*/trainer_state.json"))


def _asked(out: Path) -> dict[str, Any] | None:
    """The settings of the run in a folder; None without a run."""
    if not (out / RUN).exists():
        return None
    try:
        run = read_json(read_file(out / RUN))
    except ValueError as error:
        raise damaged(out / RUN, error, "Choose another folder, or delete this one") from error
    if not isinstance(run, dict):
        raise damaged(out / RUN, "is not an object", "Choose another folder, or delete this one")
    return run


def damaged(file: Path, reason: object, way_out: str) -> RecordingError:
    """The error for a file of a run that cannot be read."""
    first = (str(reason).strip() or type(reason).__name__).splitlines()[0].rstrip(".")
    return RecordingError(f"{file}: damaged: {first}. {way_out}.", str(file))


def write_json(file: Path, content: dict[str, Any]) -> None:
    """Writes a file. An interruption leaves the old content."""
    part = file.with_name(file.name + ".part")
    with disk_errors(file, "write the settings of the run"):
        part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        part.replace(file)


class Curve:
    """The lines of `metrics.jsonl`: dicts with a step. note: receives each line that is written."""

    def __init__(self, out: Path, note: Callable[[dict[str, Any]], None]) -> None:
        self.file = out / METRICS
        self._note = note

    def resume(self, step: int) -> list[dict[str, Any]]:
        """Drops the lines after a step, which will be written again. Returns the others."""
        rows: list[dict[str, Any]] = []
        for line in self.file.read_text().splitlines() if self.file.exists() else []:
            try:
                row = read_json(line)
            except ValueError:
                break  # cut off while it was written
            if row["step"] <= step:
                rows.append(row)
        part = self.file.with_name(f"{METRICS}.part")
        part.write_text("".join([json.dumps(row) + "\n" for row in rows]))
        part.replace(self.file)
        return rows

    def write(self, row: dict[str, Any]) -> None:
        """Adds a line."""
        with disk_errors(self.file, "write the curve"), self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self._note(row)
