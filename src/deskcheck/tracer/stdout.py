"""Listens to the standard output of a recorded process, without changing it."""

import io
import sys
from collections.abc import Callable
from typing import Any

_core: Any
try:
    from deskcheck.tracer import _native

    _core = _native
except ImportError:
    _core = None


class StdoutHearing:
    """Between `on` and `off`, calls functions with each text that is written to `sys.stdout`.

    `sys.stdout` stays the same object, also in a notebook or while output is captured. The native core
    listens to an `io.TextIOWrapper`. For other streams, `write` is replaced in the `__dict__` of the object,
    if it has one. Text that reaches the descriptor in other ways is not heard.
    """

    def __init__(self, *functions: Callable[[str], object]) -> None:
        self._functions = functions
        self._hearing: Any = None
        self._attributes: dict[str, Any] = {}
        self._ours: Any = None
        self._before: Any = None

    def on(self) -> None:
        stdout: Any = sys.stdout
        if _core is not None and isinstance(stdout, io.TextIOWrapper):
            self._hearing = _core.hear(stdout, *self._functions)
            return
        attributes = getattr(stdout, "__dict__", None)
        if type(attributes) is not dict:
            return
        self._before = attributes.get("write")
        plain, functions = stdout.write, self._functions

        def write(text: str, /) -> Any:
            count = plain(text)
            for function in functions:
                function(text)
            return count

        attributes["write"] = self._ours = write
        self._attributes = attributes

    def off(self) -> None:
        hearing, self._hearing = self._hearing, None
        if hearing is not None:
            _core.hear_no_more(hearing)
        attributes, self._attributes = self._attributes, {}
        if attributes and attributes.get("write") is self._ours:
            if self._before is None:
                del attributes["write"]
            else:
                attributes["write"] = self._before
