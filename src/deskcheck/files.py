"""Files: locks, atomic writing, reading of untrusted files, and the way out of errors of the disk."""

import errno
import fcntl
import hashlib
import io
import json
import os
import re
import secrets
import stat
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from deskcheck.errors import InputError, RecordingError

LOCK_NAME = ".lock"

_WAYS_OUT = {
    errno.ENOSPC: "The disk is full: free some space and rerun the command. Finished work is kept.",
    errno.EDQUOT: "The disk quota is used up: free some space and rerun the command. Finished work is kept.",
    errno.EFBIG: "The limit on file size is reached: raise it (ulimit -f) and rerun the command. "
    "Finished work is kept.",
    errno.EROFS: "Choose a folder on a disk that can be written to.",
    errno.EACCES: "Choose a folder that you may write to, or change its permissions.",
    errno.EPERM: "Choose a folder that you may write to, or change its permissions.",
    errno.ENOTDIR: "There is a file in the place of a folder: choose another folder.",
    errno.EEXIST: "There is a file in the place of a folder: choose another folder.",
    errno.EMFILE: "Too many files are open: raise the limit (ulimit -n), or open fewer recordings at once.",
}


class NotJSON(InputError, ValueError):
    """A text cannot be read as JSON.

    reason: the reason without the location. cut: whether the text ends in the middle of a value.
    """

    def __init__(self, message: str, reason: str = "", *, cut: bool = False) -> None:
        super().__init__(message)
        self.reason, self.cut = reason or message, cut


def read_json(text: str | bytes | bytearray, location: str = "", way_out: str = "") -> Any:
    """The value of a JSON text that may not be trusted. All such texts are read with this function.

    location: the file and line, for messages. way_out: a sentence for messages, with the way out. As in the
    module `json`, NaN and Infinity are numbers.

    Raises NotJSON, an InputError and a ValueError, if the text is not JSON, not UTF-8, nested too deeply, or
    has an integer with more digits than Python reads. The message does not show the text.
    """
    cut = False
    try:
        return json.loads(text)
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 at byte {error.start}"
    except RecursionError:
        what = "is nested too deeply"
    except json.JSONDecodeError as error:
        ends = error.pos >= len(error.doc.rstrip()) - 1 and error.msg != "Extra data"
        cut = ends or error.msg.startswith("Unterminated")
        position = (
            f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        )
        what = f"is not JSON at {position}: {error.msg}"
    except ValueError:
        what = f"has a whole number of more than {sys.get_int_max_str_digits()} digits"
    message = f"{location}: {what}." if location else what
    raise NotJSON(f"{message} {way_out}".rstrip(), what, cut=cut) from None


_ALREADY_OPEN = ("/dev/fd/", "/dev/std", "/proc/self/fd/")
"""Prefixes of names for files that are already open, such as those of a shell's ``<(COMMAND)``."""
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def open_file(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a file that may not be trusted for reading. All such files are opened with this function.

    Only regular files are opened, because reading a named pipe may wait for ever, and a device may have no
    end. Links are followed. Files that are already open, such as ``/dev/stdin``, can be of any kind.

    Raises OSError, also for a path that is not a regular file.
    """
    name = os.fspath(path)
    if name.startswith(_ALREADY_OPEN):
        return open(name, "rb")
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket, or a device without a driver
            raise OSError(errno.EINVAL, "it is not a regular file", name) from None
        raise
    try:
        kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
        if kind == stat.S_IFDIR:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
        if kind != stat.S_IFREG:
            what = _KINDS.get(kind, "something else")
            raise OSError(errno.EINVAL, f"it is {what}, not a regular file", name)
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_file(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a file, opened by `open_file`. Raises OSError."""
    with open_file(path) as file:
        return file.read()


def read_text(path: str | os.PathLike[str], errors: str = "strict") -> str:
    """The text of a file in UTF-8, opened by `open_file`. Raises OSError, UnicodeDecodeError."""
    with io.TextIOWrapper(open_file(path), encoding="utf-8", errors=errors) as file:
        return file.read()


@contextmanager
def opened_name(path: str | os.PathLike[str]) -> Iterator[str]:
    """A name under which a library can open a file that `open_file` has opened. Raises OSError."""
    with open_file(path) as file:
        yield f"/dev/fd/{file.fileno()}"


@contextmanager
def disk_errors(path: Path, doing: str) -> Iterator[None]:
    """Turn errors of the file system into a RecordingError with the path and the way out."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        way_out = _WAYS_OUT.get(error.errno or 0, "")
        raise RecordingError(f"{path}: cannot {doing}: {reason}. {way_out}".rstrip(), str(path)) from error


def open_plain(path: Path, flags: int, mode: int = 0o600) -> int:
    """Descriptor of a regular file that may have been replaced by others. Does not follow links or block.

    Raises OSError, also for a path that is not a regular file.
    """
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    try:
        descriptor = os.open(path, flags, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link; a pipe without a reader
            raise OSError("it is not a regular file: delete it") from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is not a regular file: delete it")
    return descriptor


def sync(path: Path) -> None:
    """Write a file, or the list of a folder, through to the disk, so that it survives a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock_holder(data: bytes) -> str:
    """The process that a lock file names. Other contents are not trusted, and not shown."""
    owner = re.fullmatch(rb"process \d+ on [\w.-]+\n?", data)
    return owner[0].decode().strip() if owner else "another process"


class FolderLock:
    """The exclusive right to write into a folder. It ends with the process, however that ends.

    The lock is by `fcntl.lockf`. Forks would inherit one by flock, and a forked child that outlives a killed
    writer would keep the folder locked. `lockf` does not exclude two writers of one process, hence the list.
    """

    _holders: dict[str, int] = {}  # noqa: RUF012 (shared on purpose) folder -> process that holds the lock; this may be a fork of it
    _guard = threading.Lock()

    def __init__(self, folder: Path) -> None:
        self._folder = os.path.realpath(folder)
        self._path = folder / LOCK_NAME
        with self._guard:
            # Before opening the file: closing it again would let go of the lock that this process has.
            if self._holders.get(self._folder) == os.getpid():
                self._refuse(f"this process ({os.getpid()})")
            while True:
                self._descriptor = open_plain(self._path, os.O_RDWR | os.O_CREAT, 0o644)
                try:
                    fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if self._is_current():
                        break
                except OSError as error:
                    holder = lock_holder(os.read(self._descriptor, 200))
                    os.close(self._descriptor)
                    if error.errno in (errno.EACCES, errno.EAGAIN):
                        self._refuse(holder)
                    raise
                os.close(self._descriptor)
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, f"process {os.getpid()} on {os.uname().nodename}\n".encode())
            self._holders[self._folder] = os.getpid()

    @classmethod
    def held_here(cls, folder: Path) -> bool:
        """Whether this process writes into a folder."""
        with cls._guard:
            return cls._holders.get(os.path.realpath(folder)) == os.getpid()

    def _is_current(self) -> bool:
        """Whether the locked file still has its name. Its last holder may have deleted it."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _refuse(self, holder: str) -> NoReturn:
        raise RecordingError(
            f"{self._folder}: {holder} is writing here, and only one writer at a time is allowed. "
            "Wait for it, end it, or choose another folder.",
            self._folder,
        )

    def release(self) -> None:
        with self._guard:
            self._holders.pop(self._folder, None)
            try:
                self._path.unlink(missing_ok=True)
            except NotADirectoryError:
                pass  # the folder has gone, and a file is in its place
            finally:
                os.close(self._descriptor)


_WAYS_OUT_OF_FILE = {
    errno.ENOSPC: "The disk is full: free some space, or name a file on another disk.",
    errno.EDQUOT: "The disk quota is used up: free some space, or name a file on another disk.",
    errno.EFBIG: "The limit on file size is reached: raise it (ulimit -f).",
    errno.EROFS: "Name a file on a disk that can be written to.",
    errno.EACCES: "Name a file in a folder that you may write to.",
    errno.EPERM: "Name a file in a folder that you may write to.",
    errno.ENOENT: "Make the folder first, or name a file in a folder that exists.",
}


_OPEN = ("/dev/fd/", "/dev/std", "/proc/")
"""Prefixes of names for files that are already open. These are not replaced."""


def write_file(path: Path, pieces: Iterable[str]) -> int:
    """Write a file as UTF-8 and return its size in bytes. Lone surrogates become question marks.

    The text is written to a temporary file, which is then renamed. So a reader sees the old file or the new
    one, never a part. Only pipes and devices are written to directly.

    Raises:
        InputError: the file cannot be written; an old file is unchanged.
    """
    before = None
    try:
        status = os.stat(path) if path.exists() else None
        if status is not None and (not stat.S_ISREG(status.st_mode) or str(path).startswith(_OPEN)):
            with open(path, "wb") as file:
                return _write(file, pieces)
        before = status
        if before is not None and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        # If the path is a link, its target is replaced.
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
        sentences = [f"{path}: cannot be written: {error.strerror or error}."]
        sentences += [_WAYS_OUT_OF_FILE[error.errno]] if error.errno in _WAYS_OUT_OF_FILE else []
        sentences += ["The old file is unchanged."] if before is not None else []
        raise InputError(" ".join(sentences)) from error


def _write(file: BinaryIO, pieces: Iterable[str]) -> int:
    return sum(file.write(piece.encode("utf-8", "replace")) for piece in pieces)


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/deskcheck``; only an absolute value counts (XDG Base Directory, "Basics")."""
    cache_home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache_home) if os.path.isabs(cache_home) else Path.home() / ".cache") / "deskcheck"


def sha256(path: Path) -> str:
    """The digest of a file's bytes, in hexadecimal digits."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
