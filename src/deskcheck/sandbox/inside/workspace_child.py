"""The process of a command, or of reading or writing a file: a fork of a workspace's server.

The file is started by path, like `child`. The fork is confined before it gets its job, so it cannot leave the
workspace by a link or a pipe of an earlier command. It reports errors before the command on the channel,
which the command does not get. The exit status shows later errors.
"""

import sys

_package_root = __file__.rsplit("/", 4)[0]
sys.path.insert(0, _package_root)

from deskcheck.sandbox.inside import startup

sys.path.remove(_package_root)
startup.add_paths()  # and no code: an interpreter that a command starts runs that itself
sys.path.insert(0, _package_root)

import errno
import json
import marshal
import os
import signal
import stat
from typing import Any

from deskcheck.sandbox.inside import calling
from deskcheck.sandbox.inside import server as _server
from deskcheck.sandbox.linux import rlimits

sys.path.remove(_package_root)

_CHUNK_BYTES = 1 << 20
_NOT_FOR_COMMANDS = ("PYTHONHASHSEED",)


def _run(job: dict[str, Any], contents: int | None) -> None:
    if contents is not None:
        os.dup2(contents, 0)
    os.chdir(job["cwd"] or ".")
    environ = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_COMMANDS}
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):  # Python handles these in its own way
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(job["argv"][0], job["argv"], {**environ, **job["env"]})
    except OSError as error:  # which names the last place on PATH
        raise OSError(error.errno, error.strerror, job["argv"][0]) from error


def _read(path: str, most_bytes: int) -> None:
    """Write a file to standard output. A pipe or a device is refused before it could block."""
    descriptor = _regular(path, os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY))
    if os.fstat(descriptor).st_size > most_bytes:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    bytes_left = most_bytes
    while bytes_left > 0 and (chunk := os.read(descriptor, min(bytes_left, _CHUNK_BYTES))):
        bytes_left -= len(chunk)
        _write_all(1, chunk)


def _write(path: str, contents: int) -> None:
    if folder := os.path.dirname(path):
        os.makedirs(folder, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    descriptor = _regular(path, os.open(path, flags, 0o644))
    while chunk := os.read(contents, _CHUNK_BYTES):
        _write_all(descriptor, chunk)


def _regular(path: str, descriptor: int) -> int:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)
    return descriptor


def _refuse_folder(path: str) -> None:
    # Asked beforehand: Landlock would say of a folder outside that it may not be opened, not what it is.
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)


def _write_all(descriptor: int, data: bytes) -> None:
    unwritten = memoryview(data)
    while unwritten:
        unwritten = unwritten[os.write(descriptor, unwritten) :]


def main() -> None:
    fork = _server.serve(int(sys.argv[1]), sys.modules, {})
    data = calling.receive(fork.channel)
    if data is None:
        os._exit(1)  # the caller has gone
    job: dict[str, Any] = marshal.loads(data)
    try:
        rlimits.apply(job["limits"])
        if job["kind"] == "run":
            _run(job, fork.mirror)
        _refuse_folder(job["path"])
        if job["kind"] == "read":
            _read(job["path"], job["most_bytes"])
        else:
            assert fork.mirror is not None
            _write(job["path"], fork.mirror)
    except OSError as error:
        path = None if error.filename is None else os.fsdecode(error.filename)
        os.write(fork.channel, json.dumps([error.errno, error.strerror, path]).encode())
        os._exit(1)
    os._exit(0)


main()
