"""Messages from the watched process to the watcher, each authenticated.

The program shares the process with the sender and may find the descriptor. A message consists of parts of up
to `PART_BYTES`. Each part has a keyed BLAKE2 digest over its length, number and bytes, so a writer without
the key is noticed at the next part. A program may find the key in its own memory, which `decoder` expects.
"""

import builtins
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

globals()["__builtins__"] = dict(vars(builtins))

KEY_BYTES = 32
PART_BYTES = 1 << 17
BLOCK_BYTES = 4 << 20
"""Largest size of a block of events. A tracer with a larger block gives up."""
END_BYTES = 4 << 20
"""Largest size of the message at the end of a program. Parts that do not fit are omitted."""
END_PARTS = 100_000
"""Largest number of values, names, lists and objects in that message, without those inside texts."""
CALL_BYTES = 16 << 20
"""Largest size of the arguments or the result of one call from a check."""
_DIGEST_BYTES = 16
_HEADER_BYTES = 4 + _DIGEST_BYTES
_MORE = 1 << 31


class Forged(Exception):
    """Bytes on the channel that the sender does not write."""


class TooLong(Forged):
    """A message with more bytes than the `limit` of its kind."""

    def __init__(self, message: str, limit: int, beginning: bytes) -> None:
        super().__init__(message)
        self.limit = limit
        self.beginning = beginning


def sender(
    descriptor: int,
    key: bytes,
    *,
    write: Callable[[int, memoryview], int] = os.write,
    blake2b: Callable[..., Any] = hashlib.blake2b,
    new_lock: Callable[[], Any] = threading.Lock,
) -> Callable[[bytes], None]:
    """A function that sends one message. It raises OSError once the descriptor is gone.

    The other parameters bind functions before any program can replace them.
    """
    number = 0
    lock = new_lock()

    def send(payload: bytes) -> None:
        with lock:
            size = len(payload)
            position = 0
            while size - position > PART_BYTES:
                send_part(PART_BYTES | _MORE, payload[position : position + PART_BYTES])
                position += PART_BYTES
            send_part(size - position, payload[position:] if position else payload)

    def send_part(head: int, part: bytes) -> None:
        nonlocal number
        begins = head.to_bytes(4, "big")
        digest = blake2b(
            number.to_bytes(8, "big") + begins + part, key=key, digest_size=_DIGEST_BYTES
        ).digest()
        number += 1
        unsent = memoryview(begins + digest + part)
        while unsent:
            unsent = unsent[write(descriptor, unsent) :]

    return send


def suite_message(kind: str, facts: dict[str, Any], blocks: Iterable[bytes] = ()) -> bytes:
    """A message of a test suite: its kind, JSON-able facts, and blocks of events, each after its length."""
    head = json.dumps(facts).encode()
    parts = [f"{kind} {len(head)}\n".encode(), head]
    for block in blocks:
        parts += [len(block).to_bytes(4, "big"), block]
    return b"".join(parts)


class Receiver:
    """Joins received bytes to complete messages.

    Args:
        limit_of: gives the largest size of a message from its first part. It may raise Forged.
    """

    def __init__(self, key: bytes, limit_of: Callable[[bytes], int]) -> None:
        self._key = key
        self._limit_of = limit_of
        self._number = 0
        self._buffer = bytearray()
        self._message: bytearray | None = None
        """The bytes of an incomplete message. `_limit` is its largest size."""
        self._limit = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The messages completed by these bytes, in order. Raises Forged at the first false part."""
        self._buffer += data
        position = 0
        try:
            while (end := self._end_of_part(position)) is not None:
                begins, part = self._part(position, end)
                position = end
                message = self._joined(part, more=bool(begins & _MORE))
                if message is not None:
                    yield message
        finally:
            del self._buffer[:position]

    def _end_of_part(self, position: int) -> int | None:
        """The end of the part that begins at a position; None if the part is incomplete."""
        if len(self._buffer) - position < _HEADER_BYTES:
            return None
        size = int.from_bytes(self._buffer[position : position + 4], "big") & ~_MORE
        if size > PART_BYTES:
            raise Forged(f"a part of {size} bytes")
        end = position + _HEADER_BYTES + size
        return end if end <= len(self._buffer) else None

    def _part(self, position: int, end: int) -> tuple[int, bytes]:
        """The first number of a part and its bytes, if it has the key."""
        begins = bytes(self._buffer[position : position + 4])
        part = bytes(self._buffer[position + _HEADER_BYTES : end])
        expected = hashlib.blake2b(
            self._number.to_bytes(8, "big") + begins + part, key=self._key, digest_size=_DIGEST_BYTES
        ).digest()
        if self._buffer[position + 4 : position + _HEADER_BYTES] != expected:
            raise Forged(f"part {self._number} does not carry the key of this run")
        self._number += 1
        return int.from_bytes(begins, "big"), part

    def _joined(self, part: bytes, *, more: bool) -> bytes | None:
        """The message, if this part is its last one; otherwise None."""
        before = self._message
        if before is None:
            self._limit = self._limit_of(part)
        size = len(part) + (0 if before is None else len(before))
        if size > self._limit:
            beginning = bytes((part if before is None else before)[:16])
            raise TooLong(f"a message of more than {self._limit} bytes", self._limit, beginning)
        if before is None:
            if not more:
                return part
            self._message = bytearray(part)
            return None
        before += part
        if more:
            return None
        self._message = None
        return bytes(before)  # here, where nobody holds both while it is read


def sending_tracer(
    make: Callable[[Callable[[bytes], None]], Any], channel: int, mirror: int, send: Callable[[bytes], None]
) -> Any:
    """A tracer that sends its events, but not in forked children.

    The tracer lives as long as the process. So it must not keep the program's module alive, or its objects
    would be freed in another order than without the tracer.

    Args:
        make: makes the tracer from a function that takes its blocks.
        mirror: the descriptor of shared memory for the block that is being filled. It is closed.
    """

    def emit(block: bytes) -> None:
        if len(block) > BLOCK_BYTES:
            tracer.give_up("bytes")
            return
        try:
            send(block)
        except OSError:
            tracer.give_up("channel")

    def forked() -> None:
        tracer.forget_thread()
        try:
            os.close(channel)
        except OSError:
            return

    tracer = make(emit)
    if hasattr(tracer, "mirror"):
        tracer.mirror(mirror, os.fstat(mirror).st_size)
    os.close(mirror)
    os.register_at_fork(after_in_child=forked)
    return tracer
