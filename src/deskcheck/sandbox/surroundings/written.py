"""The files that a program left in its folder: names, and digests of their content. Standard library only.

The folder is a program's, so nothing in it is trusted: only regular files are opened, no link is followed,
and how much is read and reported has bounds.
"""

import os
import stat
from hashlib import blake2b

from deskcheck.sandbox.surroundings.copies import walk

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
    contents: dict[str, str] = {}
    left_bytes = _ALL_BYTES
    for name, path, status in walk(folder):
        if len(contents) >= _FILES:
            break
        if "__pycache__" in name.split("/"):  # it holds the times of files
            continue
        if stat.S_ISLNK(status.st_mode):
            target = _target(path)
            if not target.startswith("/"):
                contents[name] = f"link to {target}"
        elif stat.S_ISDIR(status.st_mode):
            contents[name] = "folder"
        elif stat.S_ISREG(status.st_mode):
            contents[name], count = _content(path, min(left_bytes, _FILE_BYTES))
            left_bytes -= count
        else:
            contents[name] = "special file"
    return _bounded(contents)


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return "?"


def _content(path: str, most_bytes: int) -> tuple[str, int]:
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
        while count < most_bytes and (chunk := os.read(descriptor, min(_CHUNK_BYTES, most_bytes - count))):
            digest.update(chunk)
            count += len(chunk)
        return f"{status.st_size} bytes, {digest.hexdigest()}", count
    except OSError:
        return "cannot be read", 0
    finally:
        os.close(descriptor)


def _bounded(contents: dict[str, str]) -> dict[str, str]:
    kept_contents: dict[str, str] = {}
    size, digest = 0, blake2b(digest_size=8)
    for path in sorted(contents):
        entry = f"{path}\0{contents[path]}\0".encode("utf-8", "surrogatepass")
        size += len(entry)
        if size <= _REPORTED_BYTES:
            kept_contents[path] = contents[path]
        else:
            digest.update(entry)
    if size > _REPORTED_BYTES:
        kept_contents["..."] = f"{len(contents) - len(kept_contents)} more, {digest.hexdigest()}"
    return kept_contents
