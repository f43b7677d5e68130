"""Standard output of a process that is recorded, as it is, telling the tracer what goes through it."""

import io
import sys
from collections.abc import Callable
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


class StdoutTold:
    """Between `on` and `off` the tracer is told of what is written to what stands for standard output.

    That stays the same object, whatever it is: a notebook's, or one that captures. Where its `write` cannot
    be replaced nothing is told. told: gets the texts, too.
    """

    def __init__(self, tracer: Any, told: Callable[[str], None]) -> None:
        self._tracer = tracer
        self._told = told
        self._names: dict[str, Any] = {}
        self._ours: Any = None
        self._before: Any = None

    def on(self) -> None:
        stdout: Any = sys.stdout
        names = getattr(stdout, "__dict__", None)
        if type(names) is not dict:
            return
        self._before = names.get("write")
        plain, told, tracer = stdout.write, self._told, self._tracer

        def write(text: str, /) -> Any:
            count = plain(text)
            told(text)
            tracer.wrote(text)
            return count

        names["write"] = self._ours = write
        self._names = names

    def off(self) -> None:
        names, self._names = self._names, {}
        if names and names.get("write") is self._ours:
            if self._before is None:
                del names["write"]
            else:
                names["write"] = self._before
