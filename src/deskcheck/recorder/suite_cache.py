"""The cache of a command that records tests, ``.suite/`` in its folder, until all is recorded.

It is valid for the same command and unchanged files of the project. Files of installed packages do not count.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deskcheck._version import __version__
from deskcheck.files import disk_errors, open_plain, read_json
from deskcheck.recording.writer import delete
from deskcheck.sandbox.observed.suite import ObservedTests

NAME = ".suite"
SETTINGS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini")
"""Files in the root of a project that decide how its tests run."""
_MOST_BYTES = 64 << 20
_FILES, _UNCHECKED = "files.json", "unchecked.json"


class SuiteCache:
    """The reports of an earlier, interrupted call of the same command."""

    def __init__(self, folder: Path, suite: ObservedTests, settings: dict[str, Any]) -> None:
        command = json.dumps([__version__, asdict(suite), settings], sort_keys=True, default=str)
        self.recordings = folder.absolute()  # pytest, which gets the path, runs in another folder
        self.root = suite.root
        self.project = self.recordings / NAME / _digest(str(suite.root))
        self.folder = self.project / _digest(command)

    def begin(self) -> None:
        """Prepare the folder, and delete reports of other commands for this project.

        The caller has locked the folder of the recordings, and has not read them yet.
        """
        with disk_errors(self.folder, "keep reports of the tests"):
            for own_folder in (self.recordings / NAME, self.project, self.folder):
                if own_folder.is_symlink():  # the target may belong to others, and must not be emptied
                    raise OSError(f"{own_folder} is a link: delete it")
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.recordings / NAME).chmod(0o700)  # with --no-mask nothing is masked
            self._drop_unchecked()
            for leftover in self.project.iterdir():
                if leftover.is_file():  # half written
                    leftover.unlink()
                elif leftover != self.folder:
                    shutil.rmtree(leftover)
            self._drop_if_changed()

    def run(self, name: str) -> Path:
        """The file of one run of the tests."""
        return self.folder / name

    def unchecked(self, ids: Iterable[str]) -> None:
        """Note the ids of unverified recordings, which are in separate shards.

        The next command for this project deletes these recordings first.
        """
        path = self.project / _UNCHECKED
        with disk_errors(path, "keep the list of unverified recordings"):
            _write(path, sorted(ids))

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        for folder in (self.project, self.project.parent):
            try:
                folder.rmdir()
            except OSError:
                return  # another command has left something

    def _drop_unchecked(self) -> None:
        path = self.project / _UNCHECKED
        if path.exists():
            ids = _read(path)
            if isinstance(ids, list):
                delete(self.recordings, {id_ for id_ in ids if isinstance(id_, str)})
            path.unlink()

    def _drop_if_changed(self) -> None:
        path = self.folder / _FILES
        states = states_of(self.root)
        if path.exists():
            if _read(path) == states:
                return
            shutil.rmtree(self.folder)
            self.folder.mkdir()
        _write(path, states)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _write(path: Path, what: Any) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(what), encoding="utf-8")
    os.replace(part, path)


def _read(path: Path) -> Any:
    """The value in a file of this module; None if the file has been replaced by something else."""
    with open(open_plain(path, os.O_RDONLY), "rb") as stream:
        try:
            return read_json(stream.read(_MOST_BYTES))
        except ValueError:
            return None


def states_of(root: Path) -> dict[str, list[int]]:
    """The settings and Python files of a project -> modification time (ns) and size."""
    return {str(file): _state(file) for file in _sources(root)}


def _sources(root: Path) -> Iterator[Path]:
    """Settings and Python files of a project, without environments and hidden folders."""
    yield from (path for name in SETTINGS if (path := root / name).exists())
    for subfolder, folders, files in os.walk(root):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and not os.path.exists(os.path.join(subfolder, name, "pyvenv.cfg"))
        ]
        yield from (Path(subfolder, name) for name in files if name.endswith(".py"))


def _state(path: Path) -> list[int]:
    try:
        status = path.stat()
    except OSError:
        return []
    return [status.st_mtime_ns, status.st_size]
