"""A connection to a kernel over a UNIX socket: the needed part of ZeroMQ's protocol.

ZMTP 3.0 (rfc.zeromq.org/spec/23), without security, as a DEALER or a SUB. libzmq would read everything that a
kernel sends into our memory, in a thread and without a bound on the frames of a message. Here nothing is read
before it is requested, so that the kernel waits, and the length of a frame is checked first.
"""

import hmac
import json
import secrets
import select
import socket
import struct
import time
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deskcheck.sandbox.decoder import WIRE_BYTES, Forged, Message, kernel_message

_GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\3\0" + b"NULL".ljust(20, b"\0") + bytes(32)
_MORE, _LONG, _COMMAND = 1, 2, 4
_FRAMES = 64
_CHUNK_BYTES = 1 << 16
_COMMAND_BYTES = 1 << 12
_CONNECT_S = 30.0


class Connection:
    """A socket of a kernel. kind: ``DEALER``, or ``SUB`` for all messages.

    Raises OSError: nothing listens there. Forged: the other side breaks the protocol.
    """

    def __init__(self, path: Path, kind: str, key: str) -> None:
        self._key = key.encode()
        self._session = secrets.token_hex(16)
        self._buffer = bytearray()
        self._frames: list[bytes] = []
        self._size = 0
        self._messages: deque[list[bytes]] = deque()
        self.is_over = False
        """Whether the other side has closed it."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(_CONNECT_S)
            self._socket.connect(str(path))
            self._greet(kind)
        except BaseException:
            self._socket.close()
            raise

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def _greet(self, kind: str) -> None:
        self._socket.sendall(_GREETING)
        greeting = self._exactly(len(_GREETING))
        if greeting[0] != 0xFF or greeting[9] != 0x7F or greeting[10] < 3 or greeting[12:17] != b"NULL\0":
            raise Forged("a malformed greeting")
        ready = b"\5READY"
        for name, value in (("Socket-Type", kind), ("Identity", "")):
            ready += bytes([len(name)]) + name.encode() + struct.pack(">I", len(value)) + value.encode()
        self._socket.sendall(bytes([_COMMAND, len(ready)]) + ready)
        flags, size = self._exactly(2)
        if flags != _COMMAND or not self._exactly(size).startswith(b"\5READY"):
            raise Forged("a greeting without an end")
        if kind == "SUB":
            self._send([b"\1"])

    def _exactly(self, size: int) -> bytes:
        data_read = b""
        while len(data_read) < size:
            data = self._socket.recv(size - len(data_read))
            if not data:
                raise ConnectionResetError("the kernel closed a connection")
            data_read += data
        return data_read

    def _send(self, frames: Sequence[bytes]) -> None:
        data = bytearray()
        for number, frame in enumerate(frames, 1):
            flags = (_MORE if number < len(frames) else 0) | (_LONG if len(frame) > 255 else 0)
            data += struct.pack(">BQ", flags, len(frame)) if flags & _LONG else bytes([flags, len(frame)])
            data += frame
        self._socket.settimeout(_CONNECT_S)
        try:
            self._socket.sendall(data)
        except OSError:
            self.is_over = True  # the kernel reads no more: how it ends is reported elsewhere

    def request(self, kind: str, content: dict[str, Any], metadata: dict[str, Any] | None = None) -> str:
        """Send a request; returns its id, which the answers name."""
        request_id = secrets.token_hex(16)
        now = datetime.now(UTC).isoformat()
        header = {
            "msg_id": request_id,
            "msg_type": kind,
            "session": self._session,
            "username": "",
            "date": now,
        }
        contents: tuple[dict[str, Any], ...] = ({**header, "version": "5.3"}, {}, metadata or {}, content)
        parts = [json.dumps(part).encode() for part in contents]
        signature = hmac.new(self._key, b"".join(parts), "sha256").hexdigest().encode()
        self._send([b"<IDS|MSG>", signature, *parts])
        return request_id

    def receive(self, timeout_s: float) -> Message | None:
        """The next message; None if none arrives in time, or the connection is closed. Raises Forged."""
        until = time.monotonic() + timeout_s
        while not self._messages:
            if self.is_over:
                return None
            seconds_left = max(0.0, until - time.monotonic())
            if not select.select([self._socket], [], [], seconds_left)[0]:
                return None
            self._read()
        return kernel_message(self._messages.popleft(), self._key)

    @property
    def has_message(self) -> bool:
        return bool(self._messages)

    def _read(self) -> None:
        self._socket.setblocking(False)
        try:
            data = self._socket.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.is_over = True
            return
        self.feed(data)

    def feed(self, data: bytes) -> None:
        """Take bytes of the other side. Raises Forged."""
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= 2:
            flags = buffer[start]
            if flags > 7:
                raise Forged(f"a frame of an unknown kind, {flags}")
            head = 9 if flags & _LONG else 2
            if len(buffer) - start < head:
                break
            size = int.from_bytes(buffer[start + 1 : start + head], "big")
            if size > (_COMMAND_BYTES if flags & _COMMAND else WIRE_BYTES - self._size):
                raise Forged(f"a message of more than {WIRE_BYTES} bytes")
            end = start + head + size
            if len(buffer) < end:
                break
            if not flags & _COMMAND:
                self._frames.append(bytes(buffer[start + head : end]))
                self._size += size
                if len(self._frames) > _FRAMES:
                    raise Forged(f"a message of more than {_FRAMES} frames")
                if not flags & _MORE:
                    self._messages.append(self._frames)
                    self._frames, self._size = [], 0
            start = end
        del buffer[:start]
