"""The folder of a training run: `run.json`, all that it was asked and what it read; `metrics.jsonl`, a line
for each look at it; the model; and what the same command goes on from. One process at a time trains there.
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
    """A folder for a run, or that of one, locked: `release` it.

    Raises:
        InputError: it holds something else.
        RecordingError: it cannot be made; another process trains there.
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


def refuse_others(out: Path, asked: dict[str, Any]) -> None:
    """Raise InputError for a folder that is not a run with these values; RecordingError if that is unknown.

    A run without a save may have other values."""
    if not out.is_dir():
        return
    before = _asked(out)
    if before is None:
        if any(path.name not in (LOCK_NAME, LESSONS) for path in out.iterdir()):
            raise InputError(f"{out}: is not empty and holds no run of training. Name another folder.")
        return
    if not _saved(out):
        return
    changed = [name for name in asked if before.get(name) != asked[name]]
    if changed:
        raise InputError(
            f"{out}: holds a run with other {' and '.join(changed)} ({RUN} has them). "
            "Name another folder, or ask the same again to go on with it."
        )


def begin_run(out: Path, asked: dict[str, Any]) -> None:
    """Write down what a run is asked, or see that it is the same as before, with `refuse_others`."""
    refuse_others(out, asked)
    if not _saved(out):
        write_json(out / RUN, asked)


@contextmanager
def locked_run(out: Path, asked: dict[str, Any]) -> Iterator[None]:
    """A run that was asked this, in a folder that is locked meanwhile. Raises as `lock_run`, `begin_run`."""
    lock = lock_run(out)
    try:
        begin_run(out, asked)
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
        raise damaged(out / RUN, error, "Name another folder, or delete this one") from error
    if not isinstance(run, dict):
        raise damaged(out / RUN, "is no object", "Name another folder, or delete this one")
    return run


def damaged(file: Path, why: object, way_out: str) -> RecordingError:
    """The error for a file of a run that cannot be read."""
    first = (str(why).strip() or type(why).__name__).splitlines()[0].rstrip(".")
    return RecordingError(f"{file}: damaged: {first}. {way_out}.", str(file))


def write_json(file: Path, content: dict[str, Any]) -> None:
    """Write a file that is whole or as it was."""
    part = file.with_name(file.name + ".part")
    with disk_errors(file, "write down what the run was asked"):
        part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        part.replace(file)


class Curve:
    """The lines of `metrics.jsonl`: dicts with a step. note: receives each line that is written."""

    def __init__(self, out: Path, note: Callable[[dict[str, Any]], None]) -> None:
        self.file = out / METRICS
        self._note = note

    def resume(self, step: int) -> list[dict[str, Any]]:
        """Drops the lines after a step, which will be written again. Those that are left."""
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
