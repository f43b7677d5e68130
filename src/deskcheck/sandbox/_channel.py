"""Messages from the watched process to the watcher, each authenticated.

The program under observation shares the process with the sender and may find the descriptor. Whoever
writes to it without the key of this run is noticed at the next message: a frame is its length, a
keyed BLAKE2 digest over its number and payload, and the payload. (A program that searches the memory
of its own process for the key is beyond this; it can only spoil its own recording, because what an
answer must be equal to is never in the process that runs it.)
"""

import builtins
import hashlib
import os
import threading
from collections.abc import Callable
from typing import Any

globals()["__builtins__"] = dict(vars(builtins))

KEY_BYTES = 32
_DIGEST_BYTES = 16
_HEADER_BYTES = 4 + _DIGEST_BYTES


class Forged(Exception):
    """Bytes on the channel that the sender did not write."""


def sender(
    descriptor: int,
    key: bytes,
    *,
    write: Callable[[int, memoryview], int] = os.write,
    blake2b: Callable[..., Any] = hashlib.blake2b,
    new_lock: Callable[[], Any] = threading.Lock,
) -> Callable[[bytes], None]:
    """A function that sends one message. Raises OSError once the descriptor is gone.

    The others are bound here, before any program can replace them.
    """
    number = 0
    lock = new_lock()

    def send(payload: bytes) -> None:
        with lock:
            locked_send(payload)

    def locked_send(payload: bytes) -> None:
        nonlocal number
        digest = blake2b(number.to_bytes(8, "big") + payload, key=key, digest_size=_DIGEST_BYTES).digest()
        number += 1
        rest = memoryview(len(payload).to_bytes(4, "big") + digest + payload)
        while rest:
            rest = rest[write(descriptor, rest) :]

    return send


class Receiver:
    """Takes bytes as they come and gives whole messages."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._number = 0
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The messages completed by these bytes, in order. Raises Forged at the first false one."""
        self._buffer += data
        messages = []
        position = 0
        while len(self._buffer) - position >= _HEADER_BYTES:
            size = int.from_bytes(self._buffer[position : position + 4], "big")
            end = position + _HEADER_BYTES + size
            if size > 1 << 30:
                raise Forged("a message of more than 1 GiB")
            if len(self._buffer) < end:
                break
            digest = bytes(self._buffer[position + 4 : position + _HEADER_BYTES])
            payload = bytes(self._buffer[position + _HEADER_BYTES : end])
            expected = hashlib.blake2b(
                self._number.to_bytes(8, "big") + payload, key=self._key, digest_size=_DIGEST_BYTES
            ).digest()
            if digest != expected:
                raise Forged(f"message {self._number} does not carry the key of this run")
            self._number += 1
            messages.append(payload)
            position = end
        del self._buffer[:position]
        return messages
