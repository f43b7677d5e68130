"""Where the recordings that are asked about come from."""

import os
from collections.abc import Iterable, Iterator

from deskcheck.recording import Recording

Folder = str | os.PathLike[str]


def load(folder: Folder) -> Iterator[Recording]:
    """The recordings of a folder. Raises RecordingError if it holds none."""
    from deskcheck.recording.file import Recordings

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
