"""Where a command that records tests keeps what they told, until all of it is recorded: ``.suite/``
in its folder.

What is kept is for that command alone, and for the files as they were: if one of them has changed
or is gone, or there is a new one, it is dropped and all begins anew. Files of installed packages
are not looked at. Another command for the same project begins anew, too.
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


class Kept:
    """What an earlier call of the same command has left in a folder, if it did not come to its
    end."""

    def __init__(self, folder: Path, suite: ObservedTests, settings: dict[str, Any]) -> None:
        command = json.dumps([__version__, asdict(suite), settings], sort_keys=True, default=str)
        self.recordings = folder.absolute()  # pytest, which is told of it, runs elsewhere
        self.root = suite.root
        self.project = self.recordings / NAME / _digest(str(suite.root))
        self.folder = self.project / _digest(command)

    def begin(self) -> None:
        """Make the folder ready for the command: for who has the lock of the recordings' folder,
        before it looks at them. What other commands have left of this project goes."""
        with disk_errors(self.folder, "keep what the tests tell"):
            for place in (self.recordings / NAME, self.project, self.folder):
                if place.is_symlink():  # what it leads to is nobody's to empty
                    raise OSError(f"{place} is a link: delete it")
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.recordings / NAME).chmod(0o700)  # with --no-mask nothing is masked
            self._drop_unchecked()
            for other in self.project.iterdir():
                if other.is_file():  # half written
                    other.unlink()
                elif other != self.folder:
                    shutil.rmtree(other)
            self._drop_if_changed()

    def run(self, name: str) -> Path:
        """The file of one run of the tests."""
        return self.folder / name

    def unchecked(self, ids: Iterable[str]) -> None:
        """These recordings, which are in no shard with others, are to be checked. Whichever command
        is the next of this project deletes them first."""
        path = self.project / _UNCHECKED
        with disk_errors(path, "keep what is not checked yet"):
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
        found = states_of(self.root)
        if path.exists():
            if _read(path) == found:
                return
            shutil.rmtree(self.folder)
            self.folder.mkdir()
        _write(path, found)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _write(path: Path, what: Any) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(what), encoding="utf-8")
    os.replace(part, path)


def _read(path: Path) -> Any:
    """What a file of ours says; None where somebody has put something else there."""
    with open(open_plain(path, os.O_RDONLY), "rb") as stream:
        try:
            return read_json(stream.read(_MOST_BYTES))
        except ValueError:
            return None


def states_of(root: Path) -> dict[str, list[int]]:
    """Settings and Python files of a project -> when each was changed (ns), and its size."""
    return {str(file): _state(file) for file in _sources(root)}


def _sources(root: Path) -> Iterator[Path]:
    """Settings and Python files of a project, without environments and hidden folders."""
    yield from (path for name in SETTINGS if (path := root / name).exists())
    for place, folders, files in os.walk(root):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and not os.path.exists(os.path.join(place, name, "pyvenv.cfg"))
        ]
        yield from (Path(place, name) for name in files if name.endswith(".py"))


def _state(path: Path) -> list[int]:
    try:
        found = path.stat()
    except OSError:
        return []
    return [found.st_mtime_ns, found.st_size]
