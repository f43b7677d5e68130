"""Standard output of a process that is recorded, as it is, telling the tracer what goes through it."""

import io
import sys
from typing import Any


def watch_stdout(tracer: Any) -> None:
    """Put a stream of the same name and nature in the place of `sys.stdout`.

    The tracer is told what is written to it, and not what other ways lead to the descriptor.
    """
    plain: Any = sys.stdout
    base_write = io.TextIOWrapper.write

    class TextIOWrapper(io.TextIOWrapper):
        def write(self, text: str, /) -> int:
            count = base_write(self, text)
            tracer.wrote(text)
            return count

    TextIOWrapper.__module__ = "_io"
    TextIOWrapper.__qualname__ = "TextIOWrapper"
    buffered, through = plain.line_buffering, plain.write_through
    watched = TextIOWrapper(
        plain.detach(),
        encoding=plain.encoding,
        errors=plain.errors,
        line_buffering=buffered,
        write_through=through,
    )
    watched.mode = "w"  # type: ignore[misc]
    sys.stdout = watched
    sys.__stdout__ = watched  # type: ignore[misc]
