"""A file for the messages of a run of tests, written at once: no message is lost if a process is killed.

Each message follows its length and its checksum. Bytes after the last complete message are dropped when the
file is opened again.
"""

import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from deskcheck.files import disk_errors, open_plain

_HEAD_BYTES = 8


class Journal:
    """Messages in a file, in order, each of up to `max_bytes`. Threads may read together while one adds.

    Raises:
        RecordingError: the file cannot be written to. `add` raises this too and has then added nothing.
    """

    def __init__(self, path: Path, max_bytes: int = 1 << 30) -> None:
        self.path = path
        self._max_bytes = max_bytes
        with disk_errors(path, "save the messages of the tests"):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open_plain(path, os.O_RDWR | os.O_CREAT)
        self.size = 0

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """The messages of an earlier process, each with its position. Read all of them before you add any."""
        end = os.fstat(self._file).st_size
        while True:
            head = self.read(self.size, _HEAD_BYTES)
            size = int.from_bytes(head[:4], "big")
            # No message is empty; a file can end in zeros where the machine stopped.
            if (
                len(head) < _HEAD_BYTES
                or not 0 < size <= self._max_bytes
                or self.size + _HEAD_BYTES + size > end
            ):
                break
            message = self.read(self.size + _HEAD_BYTES, size)
            if zlib.crc32(message) != int.from_bytes(head[4:], "big"):
                break
            position = self.size + _HEAD_BYTES
            self.size = position + size
            yield position, message
        os.ftruncate(self._file, self.size)

    def add(self, message: bytes) -> int:
        """Add a message and return its position. The message survives any end of this process."""
        head = len(message).to_bytes(4, "big") + zlib.crc32(message).to_bytes(4, "big")
        unwritten = memoryview(head + message)
        # Behind the last whole one: over what an interrupt or a full disk left of another.
        end = self.size
        with disk_errors(self.path, "save the messages of the tests"):
            while unwritten:
                written = os.pwrite(self._file, unwritten, end)
                unwritten, end = unwritten[written:], end + written
        position = self.size + _HEAD_BYTES
        self.size = end
        return position

    def read(self, position: int, size: int) -> bytes:
        return os.pread(self._file, size, position)

    def close(self) -> None:
        os.close(self._file)
