"""Runs what a call has only begun: a coroutine is awaited, a generator is drawn to its end.

Only what the called function itself made is drawn: a generator that it was given, or made by an expression,
is its result like any other. Standard library only; what it brings in comes with the first coroutine.
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
"""Values that a generator is asked for. One that has more is closed."""


class Whole:
    """What a call came to. value: what it returned, or the values that its generator gave, as a list.
    drawn: whether it is such a list. detail: why values may be missing from it.

    It is made while the tracer runs. So it is no named tuple and no dataclass: the code of these is in a file
    `<string>`, and so may be the function that is recorded.
    """

    __slots__ = ("detail", "drawn", "value")

    def __init__(self, value: Any, drawn: bool = False, detail: str = "") -> None:
        self.value = value
        self.drawn = drawn
        self.detail = detail


def whole_call(function: Any, result: Any, below: FrameType | None = None) -> Whole:
    """Run the rest of a call, as the frame `below` would (`outermost.call`). Raises what the program raises
    meanwhile."""
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
    """Whether a call of it needs an event loop, as far as its own code tells: that of a decorator's function
    may call for none, or for one of its own."""
    function = _plain(function)
    flags = function.__code__.co_flags if type(function) is FunctionType else 0
    return bool(flags & (0x80 | 0x200))  # CO_COROUTINE, CO_ASYNC_GENERATOR


def needs_loop(function: Any, result: Any) -> bool:
    """Whether `whole_call` would run an event loop for what a call gave."""
    kind = type(result)
    return kind is CoroutineType or (kind is AsyncGeneratorType and result.ag_code in _codes(function))


def loop_runs() -> bool:
    """Whether an event loop runs in this thread."""
    events = sys.modules.get("asyncio.events")
    return events is not None and events._get_running_loop() is not None


def _codes(function: Any) -> list[CodeType]:
    """Its code, and that under decorators that say what they wrap: either may have made what a call gives.
    Reads nothing that a program can override."""
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
