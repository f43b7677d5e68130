"""A folder that a program writes to: listed, compared, copied and restored. Standard library only.

No process may run in the folder meanwhile. No link is followed, and only files are opened.
"""

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from deskcheck.sandbox.surroundings import scratch

_MOST_ENTRIES = 10_000
_SAID = 500
"""Largest number of changed files to name; the others are counted."""
_YOUNG_NS = 50_000_000
"""A file that changes twice within a tick of the kernel's clock can show the same times for both."""
_COMPARED_BYTES = 1 << 20


class CannotCopy(Exception):
    """The content of the folder cannot be copied. The message says why."""


@dataclass(frozen=True, slots=True)
class FileSeen:
    """The state of a file. It has a digest of the content if times alone might not show a change."""

    stamp: tuple[int, ...]
    digest: bytes | None


Listing = dict[str, FileSeen]
"""States of files, by path below the folder. Paths of folders end with a slash."""


def listing(folder: str, before: Listing) -> Listing:
    """The states of the first 10,000 entries, for a comparison with the listing `before`."""
    files: Listing = {}
    now = time.time_ns()
    for name, path, status in walk(folder):
        if stat.S_ISDIR(status.st_mode):
            files[name + "/"] = FileSeen((status.st_mode,), None)
            continue
        stamp = (
            status.st_mode,
            status.st_ino,
            status.st_size,
            status.st_nlink,
            status.st_mtime_ns,
            status.st_ctime_ns,
        )
        earlier = before.get(name)
        young = now - status.st_ctime_ns < _YOUNG_NS
        digest = None
        if young or (earlier is not None and earlier.stamp == stamp and earlier.digest is not None):
            digest = _digest(path, status)
        files[name] = FileSeen(stamp, digest)
        if len(files) >= _MOST_ENTRIES:
            break
    return files


def changes(before: Listing, after: Listing) -> dict[str, Any]:
    """The names of created, changed and removed files; `left_out` counts those beyond the first 500."""
    names_by_kind = {
        "created": sorted(after.keys() - before.keys()),
        "changed": sorted(
            name for name in after.keys() & before.keys() if _differ(before[name], after[name])
        ),
        "removed": sorted(before.keys() - after.keys()),
    }
    left_out = 0
    room = _SAID
    for kind, names in names_by_kind.items():
        left_out += max(0, len(names) - room)
        names_by_kind[kind] = names[:room]
        room -= len(names_by_kind[kind])
    return {**names_by_kind, "left_out": left_out}


def _differ(before: FileSeen, after: FileSeen) -> bool:
    if before.stamp != after.stamp:
        return True
    return before.digest is not None and before.digest != after.digest


def _digest(path: str, status: os.stat_result) -> bytes | None:
    if not stat.S_ISREG(status.st_mode) or status.st_size > _COMPARED_BYTES:
        return None
    try:
        return blake2b(_read(path), digest_size=16).digest()
    except OSError:
        return None  # closed to its owner, whom we may be


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read()


def walk(folder: str) -> Iterator[tuple[str, str, os.stat_result]]:
    """All entries as (name below the folder, path, status). A folder comes before its content.

    The content is missing if a folder may not be read, or is too deep for a path.
    """
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            names = sorted(os.listdir(f"{folder}/{below}"))
        except OSError:
            continue
        for name in names:
            path = f"{folder}/{below}{name}"
            try:
                status = os.lstat(path)
            except OSError:
                continue  # ENAMETOOLONG
            yield below + name, path, status
            if stat.S_ISDIR(status.st_mode):
                waiting.append(f"{below}{name}/")


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of a copy. Its content is a file's, a link's target, or the name of an equal entry before."""

    name: str
    mode: int
    mtime_ns: int
    content: bytes | str | None


Copy = list[_Entry]


def copy(folder: str, most_bytes: int) -> Copy:
    """A copy of a folder's content in memory, out of reach of programs.

    Raises CannotCopy if it has more than `most_bytes`, or entries that are not files, folders or links.
    """
    entries: Copy = []
    files: dict[int, str] = {}
    bytes_left = most_bytes
    for name, path, status in walk(folder):
        mode = status.st_mode
        content: bytes | str | None = None
        if len(entries) >= _MOST_ENTRIES:
            raise CannotCopy(f"there are more than {_MOST_ENTRIES} files")
        try:
            if stat.S_ISDIR(mode):
                os.listdir(path)  # `walk` leaves out what may not be read
            elif stat.S_ISLNK(mode):
                content = os.readlink(path)
            elif not stat.S_ISREG(mode):
                raise CannotCopy(f"{name!r} is neither a file nor a folder nor a link")
            elif status.st_ino in files:
                content = files[status.st_ino]
            else:
                files[status.st_ino] = name
                bytes_left -= status.st_size
                if bytes_left < 0:
                    raise CannotCopy(f"the files are more than {most_bytes} bytes")
                content = _read(path)
        except OSError as error:
            raise CannotCopy(f"{name!r} cannot be read: {error.strerror}") from error
        entries.append(_Entry(name, mode, status.st_mtime_ns, content))
    return entries


def put_back(folder: str, entries: Copy, uid: int | None) -> None:
    """Make the content of a folder equal to a copy. Raises OSError.

    Args:
        uid: the owner of the files, if this process is root.
    """
    scratch.empty(folder)
    mask = os.umask(0)
    try:
        for entry in entries:
            path = f"{folder}/{entry.name}"
            if stat.S_ISDIR(entry.mode):
                os.mkdir(path, 0o700)
            elif stat.S_ISLNK(entry.mode):
                os.symlink(str(entry.content), path)
            elif isinstance(entry.content, str):
                os.link(f"{folder}/{entry.content}", path, follow_symlinks=False)
                continue
            else:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                with os.fdopen(os.open(path, flags, stat.S_IMODE(entry.mode)), "wb") as stream:
                    stream.write(entry.content or b"")
            if uid is not None:
                os.chown(path, uid, uid, follow_symlinks=False)
        for entry in reversed(entries):  # a folder's time and mode after those of what is in it
            _owned(f"{folder}/{entry.name}", entry)
    finally:
        os.umask(mask)


def _owned(path: str, entry: _Entry) -> None:
    """Set mode and time if the system allows it. Otherwise no program could have set them either."""
    try:
        if not stat.S_ISLNK(entry.mode):
            os.chmod(path, stat.S_IMODE(entry.mode))
        os.utime(path, ns=(entry.mtime_ns, entry.mtime_ns), follow_symlinks=False)
    except PermissionError:
        return
