"""The files that a program left in its folder: names, and digests of their content. Standard library only.

The folder is not trusted. Only regular files are opened, no link is followed, and the number of bytes to read
and to report is limited.
"""

import os
import stat
from hashlib import blake2b

from deskcheck.sandbox.surroundings.copies import walk

_FILES = 2000
_FILE_BYTES, _ALL_BYTES = 16 << 20, 64 << 20
"""Largest numbers of bytes to read from one file and from all files. Larger files show their size."""
_REPORTED_BYTES = 32 << 10
"""Largest number of bytes of names and digests. One digest covers the others."""
_CHUNK_BYTES = 1 << 20


def written(folder: str) -> dict[str, str]:
    """Digests of the content, targets of links, or kinds of entries, by path below the folder.

    Links that lead out of the folder do not count, because the sandbox makes them (`Program.path`).
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
    """A digest of a file, and the number of bytes that were read for it."""
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
