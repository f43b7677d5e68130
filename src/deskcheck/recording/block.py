"""A block: events as a tracer hands them over, many at a time in compact binary form, or one as JSON.

A block can be read without those before it. The reference tracer gives every event as a separate block,
a JSON array of the fields of `Row`. The native tracer's blocks begin with `MAGIC`; then events follow.
Numbers are LEB128 (7 bits a byte, lowest first). A text is its length in bytes, then UTF-8 (with lone
surrogates).

    byte            kind: its index in `KINDS`; + `CONTEXT`, + `COLUMNS`, + `GAP`
    if CONTEXT      thread, index, frame, code: where the frame differs from the previous event's, and
                    at the first event of a block. Without CONTEXT, thread, frame and code stay the same
                    and index is one more. `code` is a number in this block; at its first use, function
                    and file follow as texts.
    line, offset+1
    if COLUMNS      a byte that says which of the first eight `TEXTS` follow, bit n for the n-th; then these
    if GAP          the ninth, ``left_out``
"""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import IO

from deskcheck.recording.trace import Kind, Row

MAGIC = b"\xdcK\x01"
KINDS = tuple(Kind)
_NUMBERS: dict[str, int] = {kind.value: number for number, kind in enumerate(KINDS)}
CONTEXT = 0x10
COLUMNS = 0x20
GAP = 0x40
TEXTS = ("locals", "stack", "globals", "objects", "caller", "value", "output", "instruction", "left_out")


def mirrored(memory: bytes, handed_over: int) -> bytes | None:
    """The unfinished block of a tracer, read from the memory that it shares; None if it is empty.

    handed_over: the number of blocks that the tracer has handed over already.
    """
    number, size = (int.from_bytes(memory[at : at + 8], sys.byteorder) for at in (0, 8))
    if number != handed_over or not len(MAGIC) < size <= len(memory) - 16:
        return None
    return memory[16 : 16 + size]


def save(block: bytes, stream: IO[bytes]) -> None:
    """Append a block of events to a file. `saved` reads all blocks back, from the start."""
    stream.write(len(block).to_bytes(4, "big") + block)


def saved(stream: IO[bytes]) -> Iterator[bytes]:
    stream.seek(0)
    while size := stream.read(4):
        yield stream.read(int.from_bytes(size, "big"))


def rows(block: bytes) -> Iterator[Row]:
    """The events of a block. Raises ValueError at the first byte that is damaged."""
    if not block.startswith(MAGIC):
        yield Row(*json.loads(block))
        return
    position = len(MAGIC)

    def number() -> int:
        nonlocal position
        value = shift = 0
        while True:
            byte = block[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise IndexError

    def text() -> str:
        nonlocal position
        size = number()
        if position + size > len(block):
            raise IndexError
        position += size
        return block[position - size : position].decode("utf-8", "surrogatepass")

    codes: list[tuple[str, str]] = []
    thread = frame = code = 0
    index = -1
    while position < len(block):
        began = position
        try:
            head = block[position]
            if head & 0x80:
                raise IndexError
            position += 1
            index += 1
            if head & CONTEXT:
                thread, index, frame, code = number(), number(), number(), number()
                if code == len(codes):
                    codes.append((text(), text()))
            line, offset = number(), number() - 1
            texts: list[str | None] = [None] * len(TEXTS)
            present = 0
            if head & COLUMNS:
                present = block[position]
                position += 1
            present |= (head & GAP) << 2
            for bit in range(len(TEXTS)):
                if present & 1 << bit:
                    texts[bit] = text()
            yield Row(thread, index, KINDS[head & 0xF].value, frame, *codes[code], line, offset, *texts)
        except (IndexError, UnicodeDecodeError) as error:
            raise ValueError(f"the block ends or is damaged at byte {began} of {len(block)}") from error


def packed(rows: Iterable[Row]) -> bytes:
    """Rows as a block in binary form. A negative line or offset is stored modulo 2**32."""
    block = bytearray(MAGIC)
    codes: dict[tuple[str, str], int] = {}

    def put(*numbers: int) -> None:
        for value in numbers:
            while value >= 0x80:
                block.append(value & 0x7F | 0x80)
                value >>= 7
            block.append(value)

    def put_text(text: str) -> None:
        encoded = text.encode("utf-8", "surrogatepass")
        put(len(encoded))
        block.extend(encoded)

    for row in rows:
        texts: tuple[str | None, ...] = row[-len(TEXTS) :]  # type: ignore[assignment]
        present = sum(1 << bit for bit, text in enumerate(texts) if text is not None)
        columns, gap = present & 0xFF, present >> 8
        block.append(_NUMBERS[row.kind] | CONTEXT | (COLUMNS if columns else 0) | (GAP if gap else 0))
        names = row.function, row.file
        known = names in codes
        put(row.thread, row.index, row.frame, codes.setdefault(names, len(codes)))
        if not known:
            put_text(row.function)
            put_text(row.file)
        put(row.line & 0xFFFFFFFF, row.offset + 1 & 0xFFFFFFFF)
        if columns:
            block.append(columns)
        for text in texts:
            if text is not None:
                put_text(text)
    return bytes(block)
