"""Completes a call: awaits its coroutine, and draws all values of its generator.

Only generators and coroutines of the called function itself are run. A generator that it was given, or that
an expression made, is an ordinary result. The module needs only the standard library, and imports asyncio for
the first coroutine.
"""

import sys
from itertools import islice
from types import (
    AsyncGeneratorType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
)
from typing import Any

from deskcheck.tracer import outermost

DRAWN = 1000
"""Limit on the values that are drawn from a generator. One that has more is closed."""


class Whole:
    """The completed result of a call.

    value: the returned value, or the list of the values that the generator yielded.
    drawn: whether it is such a list.
    detail: why values may be missing in it.

    It is made while the tracer runs. A named tuple or a dataclass would have code in a file `<string>`, like
    a function that may be recorded.
    """

    __slots__ = ("detail", "drawn", "value")

    def __init__(self, value: Any, drawn: bool = False, detail: str = "") -> None:
        self.value = value
        self.drawn = drawn
        self.detail = detail


def whole_call(function: Any, result: Any, below: FrameType | None = None) -> Whole:
    """Complete a call as if the frame `below` did it (`outermost.call`). Raises the program's exceptions."""
    kind = type(result)
    if kind is CoroutineType:
        import asyncio

        return Whole(outermost.call(below, asyncio.run, result))
    if kind is GeneratorType and result.gi_code in _codes(function):
        return _drawn(result, below)
    if kind is AsyncGeneratorType and result.ag_code in _codes(function):
        import asyncio

        drawn: Whole = outermost.call(below, asyncio.run, _drawn_async(result))
        return drawn
    return Whole(result)


def is_async(function: Any) -> bool:
    """Whether a call of a function needs an event loop, judged by its code only.

    A function inside of a decorator may need none, because the decorator may run its own loop.
    """
    function = _plain(function)
    flags = function.__code__.co_flags if type(function) is FunctionType else 0
    return bool(flags & (0x80 | 0x200))  # CO_COROUTINE, CO_ASYNC_GENERATOR


def needs_loop(function: Any, result: Any) -> bool:
    """Whether `whole_call` would run an event loop for this result."""
    kind = type(result)
    return kind is CoroutineType or (kind is AsyncGeneratorType and result.ag_code in _codes(function))


def loop_runs() -> bool:
    """Whether an event loop runs in this thread."""
    events = sys.modules.get("asyncio.events")
    return events is not None and events._get_running_loop() is not None


def _codes(function: Any) -> list[CodeType]:
    """The code of a function, and of the functions that it wraps: each may have made the result.

    Reads no attribute that a program can override.
    """
    codes: list[CodeType] = []
    while True:
        function = _plain(function)
        if type(function) is not FunctionType or function.__code__ in codes:
            return codes
        codes.append(function.__code__)
        function = function.__dict__.get("__wrapped__")


def _plain(function: Any) -> Any:
    return function.__func__ if type(function) is MethodType else function


def _drawn(generator: Any, below: FrameType | None) -> Whole:
    values = outermost.call(below, list, islice(generator, DRAWN))
    if len(values) < DRAWN:
        return Whole(values, True)
    outermost.call(below, generator.close)
    return Whole(values, True, _CLOSED)


async def _drawn_async(generator: Any) -> Whole:
    values: list[Any] = []
    async for value in generator:
        values.append(value)
        if len(values) == DRAWN:
            await generator.aclose()
            return Whole(values, True, _CLOSED)
    return Whole(values, True)


_CLOSED = f"its generator was closed after {DRAWN} values"
