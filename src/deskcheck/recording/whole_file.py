"""Text files for people and other tools, pages and reports: each is written whole or not at all."""

import errno
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from deskcheck.recording.errors import InputError

_WAYS_OUT = {
    errno.ENOSPC: "The disk is full: free some space, or name a file on another disk.",
    errno.EDQUOT: "The disk quota is used up: free some space, or name a file on another disk.",
    errno.EFBIG: "It would pass the limit on file size: raise that (ulimit -f).",
    errno.EROFS: "Name a file on a disk that can be written to.",
    errno.EACCES: "Name a file in a folder that you may write to.",
    errno.EPERM: "Name a file in a folder that you may write to.",
    errno.ENOENT: "Make the folder first, or name a file in one that is there.",
}


_OPEN = ("/dev/fd/", "/dev/std", "/proc/")
"""Where names of files stand that are open already: those are not replaced."""


def write_file(path: Path, pieces: Iterable[str]) -> int:
    """Write a file as UTF-8 and return its size in bytes; what cannot be encoded becomes a question mark.

    It is written beside its place and then renamed, so a reader sees the file that was there before or the
    new one, never a part. What is no regular file (a pipe, a device) is written to as it is.

    Raises:
        InputError: the file cannot be written; one that was there before is as it was.
    """
    before = None
    try:
        found = os.stat(path) if path.exists() else None
        if found is not None and (not stat.S_ISREG(found.st_mode) or str(path).startswith(_OPEN)):
            with open(path, "wb") as file:
                return _write(file, pieces)
        before = found
        if before is not None and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        # Through a link, the file that it leads to is replaced.
        target = path.resolve() if path.is_symlink() else path
        part = target.with_name(f".{secrets.token_hex(8)}.part")
        try:
            with open(part, "xb") as file:
                size = _write(file, pieces)
                file.flush()
                os.fsync(file.fileno())
            if before is not None:
                os.chmod(part, stat.S_IMODE(before.st_mode))
            os.replace(part, target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return size
    except OSError as error:
        said = [f"{path}: cannot be written: {error.strerror or error}."]
        said += [_WAYS_OUT[error.errno]] if error.errno in _WAYS_OUT else []
        said += ["What was there before is unchanged."] if before is not None else []
        raise InputError(" ".join(said)) from error


def _write(file: BinaryIO, pieces: Iterable[str]) -> int:
    return sum(file.write(piece.encode("utf-8", "replace")) for piece in pieces)
