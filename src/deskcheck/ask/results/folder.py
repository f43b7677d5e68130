"""The folder of a run of `ask`, and the continuation of a run that was stopped.

    run.json             the card: settings that decide the result, written before a model is asked
    questions/*.jsonl    the questions, a `Sample` a line, as `deskcheck offline questions` writes them
    shared.json          texts that questions share, which a method has the model write once
    logs/*.eval          Inspect's logs. They get each answer when it is scored; with more than 600 samples up
                         to a three-hundredth of them wait in memory
    samples.parquet, usage.parquet, effects.json, results.json     at the end, results.json last

A run is finished if results.json exists; any process may then read it. Before, one process at a time has it.
"""

import errno
import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from deskcheck._version import __version__
from deskcheck.ask.questions.load import Folder
from deskcheck.ask.samples.sample import Sample, line_of
from deskcheck.files import FolderLock, read_file, read_json
from deskcheck.recording import DeskcheckError, InputError, RecordingError

CARD, LOGS, QUESTIONS, RESULTS = "run.json", "logs", "questions", "results.json"
SHARED = "shared.json"
_NOT_DECISIVE = frozenset({"started", "folders", "folder", "key"})
"""Entries of a card that do not decide the result."""


def card_of(settings: Mapping[str, Any], folders: Iterable[str], hidden: Mapping[str, Any]) -> dict[str, Any]:
    """The card of a run that starts now. hidden: counts for the card's key and is not written."""
    card = {
        "deskcheck": __version__,
        "inspect_ai": _version("inspect-ai"),
        "python": platform.python_version(),
        **settings,
        "started": datetime.now().astimezone().isoformat(timespec="milliseconds"),
        "folders": list(folders),
    }
    card = json.loads(json.dumps(card))  # to compare with one that was read
    return {**card, "key": _key(card, hidden)}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _key(card: Mapping[str, Any], hidden: Mapping[str, Any]) -> str:
    decisive = {name: value for name, value in card.items() if name not in _NOT_DECISIVE}
    digest = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode())
    if hidden:
        text = json.dumps(hidden, sort_keys=True, default=str)
        digest.update(hashlib.sha256(text.encode()).digest())
    return digest.hexdigest()


def files_digest(path: Path) -> str:
    """SHA-256 of the names, sizes and times of a file, or of all files below a folder."""
    digest = hashlib.sha256()
    for file in sorted([path, *path.rglob("*")]):
        try:
            stat = file.stat()
        except OSError:  # a link to nowhere, a file that has just gone
            continue
        if not file.is_dir():
            facts = [str(file.relative_to(path)), stat.st_size, stat.st_mtime_ns]
            digest.update(json.dumps(facts).encode())
    return digest.hexdigest()


def prompts_digest(samples: Iterable[Sample]) -> str:
    """SHA-256 of the file of questions: ids, prompts, right answers, in their order."""
    digest = hashlib.sha256()
    for sample in samples:
        digest.update(line_of(sample).encode())
    return digest.hexdigest()


@contextmanager
def run_folder(
    out: Folder | None, home: Path, card: Mapping[str, Any], note: Callable[[str], None]
) -> Iterator[Path]:
    """The folder of a run, with its card, locked unless the run is finished.

    out: that folder. None: the last finished one with this card in ``ask`` below `home`, or else the last, or
    a new one there.

    Raises:
        InputError: it has another run, another process has it, or it cannot be made.
        DeskcheckError: the disk refuses.
    """
    with ExitStack() as stack:
        if out is not None:
            folder = Path(out)
            if not (finished(folder) and _is_of(folder, card)):
                stack.enter_context(_locked(folder))
                _check_same(folder, card)
        else:
            folder = _same(home, card, stack) or _new(home, stack)
        if read_card(folder) is None:
            card = {**card, "folder": str(folder.resolve())}
            with disk_errors(folder):
                write_whole(folder / CARD, json.dumps(card, indent=1) + "\n")
        elif not finished(folder):
            note(f"{folder}: continues the run that was started there")
        yield folder


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turn errors of the disk into a DeskcheckError."""
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK:
            raise
        raise DeskcheckError(
            f"{folder}: cannot be written: {error.strerror}. The answers so far are kept there: make "
            "room, and rerun the command to resume."
        ) from error


_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})


def _is_of(folder: Path, card: Mapping[str, Any]) -> bool:
    old = read_card(folder)
    return old is not None and old.get("key") == card["key"]


def _same(home: Path, card: Mapping[str, Any], stack: ExitStack) -> Path | None:
    """The last folder with a finished run of this card, or else the last with a run, locked."""
    folders = [path.parent for path in sorted(home.glob(f"ask/*/{CARD}"), reverse=True)]
    folders = [folder for folder in folders if _is_of(folder, card)]
    finished_folder = next((folder for folder in folders if finished(folder)), None)
    if finished_folder is not None or not folders:
        return finished_folder
    try:
        stack.enter_context(_locked(folders[0]))
    except InputError as error:
        raise InputError(
            f"{folders[0]}: another process asks the same questions there now. Wait for it, or choose a new "
            "folder with --out."
        ) from error
    return folders[0]


def _new(home: Path, stack: ExitStack) -> Path:
    folder = home / "ask" / datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    stack.enter_context(_locked(folder))
    return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder)
    except RecordingError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}. Choose another folder.") from error
    try:
        yield
    finally:
        lock.release()


def _check_same(folder: Path, card: Mapping[str, Any]) -> None:
    old = read_card(folder)
    if old is None:
        if (folder / "samples.parquet").exists():
            raise InputError(f"{folder}: already has a run. Choose another folder, or remove this one.")
        return
    if old.get("key") == card["key"]:
        return
    if not finished(folder) and not any((folder / LOGS).glob("*.eval")):  # it ended before a model was asked
        (folder / CARD).unlink()
        return
    names = [
        name for name in {**old, **card} if name not in _NOT_DECISIVE and old.get(name) != card.get(name)
    ]
    raise InputError(
        f"{folder}: already has a run with other settings: "
        f"{', '.join(names) or 'arguments that are not kept'}. Choose another folder, or remove this one."
    )


def finished(folder: Path) -> bool:
    return (folder / RESULTS).exists()


def read_card(folder: Path) -> dict[str, Any] | None:
    """The card of a run folder; None without one."""
    try:
        card = read_json(read_file(folder / CARD))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / CARD}: cannot be read: {error}. Remove the folder.") from error
    return card if isinstance(card, dict) else None


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically."""
    part = path.with_name(f".{path.name}")
    try:
        part.write_text(text)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def questions_file(folder: Path, name: str) -> Path:
    return folder / QUESTIONS / f"{name}.jsonl"


def write_samples(path: Path, samples: Iterable[Sample]) -> None:
    """Write the questions of a kind, a line each, atomically."""
    path.parent.mkdir(exist_ok=True)
    write_whole(path, "".join(map(line_of, samples)))
