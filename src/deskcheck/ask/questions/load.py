"""Loading the recordings that are asked about."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from deskcheck.recording import Recording

Folder = str | os.PathLike[str]


def load(folder: Folder) -> Iterator[Recording]:
    """The recordings of a folder. Raises RecordingError if it holds none."""
    from deskcheck.recording.reader import Recordings

    yield from Recordings(folder)


def recordings_of(source: Folder | Iterable[Folder] | Iterable[Recording]) -> Iterator[Recording]:
    """The recordings of a folder, of several, or those that are given."""
    if isinstance(source, (str, os.PathLike)):
        yield from load(source)
        return
    for item in source:
        if isinstance(item, Recording):
            yield item
        else:
            yield from load(item)


def by_folder(source: Iterable[Folder] | Iterable[Recording], folders: dict[str, int]) -> Iterator[Recording]:
    """Like `recordings_of`, but adds the number of each recording's folder by its id; 0 without a folder."""
    for number, item in enumerate(source):
        recordings = [item] if isinstance(item, Recording) else load(item)
        for recording in recordings:
            folders.setdefault(recording.id, 0 if isinstance(item, Recording) else number)
            yield recording


def folder_of(file: str, folders: Sequence[Folder]) -> int:
    """Number of the folder that contains a file."""
    return next(number for number, folder in enumerate(folders) if Path(file).is_relative_to(folder))
