"""The files that a program left in its folder: names, and digests of their content. Standard library only.

The folder is a program's, so nothing in it is trusted: only regular files are opened, no link is followed,
and how much is read and reported has bounds.
"""

import os
import stat
from hashlib import blake2b

_FILES = 2000
_FILE_BYTES, _ALL_BYTES = 16 << 20, 64 << 20
"""Of one file, and of all, so many bytes are read. Of what is longer, the length counts."""
_REPORTED_BYTES = 32 << 10
"""Of names and digests. The rest is one digest."""
_CHUNK_BYTES = 1 << 20


def written(folder: str) -> dict[str, str]:
    """Path below the folder -> what is there: a digest of the content, a link's target, or the kind.

    Links that lead out of the folder are left out: a program finds them there (`Program.path`).
    """
    found: dict[str, str] = {}
    left_bytes = _ALL_BYTES
    todo = [""]
    while todo and len(found) < _FILES:
        inside = todo.pop()
        try:
            with os.scandir(f"{folder}/{inside}") as entries:
                names = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            found[inside] = "cannot be read"
            continue
        for entry in names:
            if entry.name == "__pycache__":  # it holds the times of files
                continue
            path = f"{inside}/{entry.name}" if inside else entry.name
            if entry.is_symlink():
                target = _target(entry.path)
                if not target.startswith("/"):
                    found[path] = f"link to {target}"
            elif entry.is_dir(follow_symlinks=False):
                found[path] = "folder"
                todo.append(path)
            elif entry.is_file(follow_symlinks=False):
                found[path], count = _content(entry.path, min(left_bytes, _FILE_BYTES))
                left_bytes -= count
            else:
                found[path] = "special file"
    return _bounded(found)


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return "?"


def _content(path: str, most: int) -> tuple[str, int]:
    """A digest of a file, and how many bytes were read for it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return "cannot be read", 0
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return "special file", 0
        digest, count = blake2b(digest_size=8), 0
        while count < most and (chunk := os.read(descriptor, min(_CHUNK_BYTES, most - count))):
            digest.update(chunk)
            count += len(chunk)
        return f"{status.st_size} bytes, {digest.hexdigest()}", count
    except OSError:
        return "cannot be read", 0
    finally:
        os.close(descriptor)


def _bounded(found: dict[str, str]) -> dict[str, str]:
    shown: dict[str, str] = {}
    size, rest = 0, blake2b(digest_size=8)
    for path in sorted(found):
        entry = f"{path}\0{found[path]}\0".encode("utf-8", "surrogatepass")
        size += len(entry)
        if size <= _REPORTED_BYTES:
            shown[path] = found[path]
        else:
            rest.update(entry)
    if size > _REPORTED_BYTES:
        shown["..."] = f"{len(found) - len(shown)} more, {rest.hexdigest()}"
    return shown
