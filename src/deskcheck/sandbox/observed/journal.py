"""What a run of tests has told, kept in a file as it comes: nothing of it is lost where somebody is
killed.

A file of messages, each after its length and its checksum. What is behind the last whole message is
dropped when the file is opened again.
"""

import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from deskcheck.files import disk_errors, open_plain

_HEAD_BYTES = 8


class Journal:
    """Messages in a file, in their order. Threads may read together while one adds. most: bytes of a message.

    Raises:
        RecordingError: the file cannot be written to; so does `add`, which then has added nothing.
    """

    def __init__(self, path: Path, max_bytes: int = 1 << 30) -> None:
        self.path = path
        self._max_bytes = max_bytes
        with disk_errors(path, "keep what the tests tell"):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open_plain(path, os.O_RDWR | os.O_CREAT)
        self.size = 0

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """Those that an earlier process has left, each with where it begins. To be gone through
        before any is added."""
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
        """Add a message; returns where it begins. It survives the end of this process, however that
        comes."""
        head = len(message).to_bytes(4, "big") + zlib.crc32(message).to_bytes(4, "big")
        unwritten = memoryview(head + message)
        # Behind the last whole one: over what an interrupt or a full disk left of another.
        end = self.size
        with disk_errors(self.path, "keep what the tests tell"):
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
