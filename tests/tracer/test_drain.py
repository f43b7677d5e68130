"""`deskcheck.trace` of functions whose call only begins something: coroutines and generators."""

import asyncio
import functools
import gc
import warnings
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import deskcheck
from deskcheck.recording import InputError, Kind, Outcome, Recording
from deskcheck.tracer.drain import whole_call


async def later(x: int) -> int:
    await asyncio.sleep(0)
    return x + 1


def squares(n: int) -> Iterator[int]:
    for i in range(n):
        yield i * i


async def several(n: int) -> AsyncIterator[int]:
    for i in range(n):
        yield await later(i)


def logged(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return function(*args)

    return call


def handed_on(generator: Iterator[int]) -> Iterator[int]:
    return generator


def record(function: Any, *args: Any) -> Recording:
    recording = deskcheck.trace(function, *args)
    kinds = [event.kind for event in recording.trace]
    assert kinds.count(Kind.CALL) == kinds.count(Kind.RETURN) + kinds.count(Kind.UNWIND)
    return recording


@pytest.mark.parametrize("function", [later, logged(later)])
def test_a_coroutine_is_awaited(function: Any) -> None:
    """The result is what it returns, and its lines are recorded."""
    recording = record(function, 3)
    assert recording.run_result.result == "4"
    assert recording.run_result.result_builtin
    assert {"later"} <= {event.function for event in recording.trace}


@pytest.mark.parametrize(("function", "result"), [(squares, "[0, 1, 4]"), (several, "[1, 2, 3]")])
@pytest.mark.parametrize("decorated", [False, True])
def test_a_generator_is_drawn(function: Any, result: str, decorated: bool) -> None:
    """The result is the list of what it yields, which is not said to be what the call returned."""
    recording = record(logged(function) if decorated else function, 3)
    assert recording.run_result.result == result
    assert not recording.run_result.result_builtin
    assert recording.result_value is None


def test_a_generator_of_others_is_left_alone() -> None:
    """One that the function only hands on is not drawn."""
    numbers = iter(squares(3))
    recording = record(handed_on, numbers)
    assert "generator" in (recording.run_result.result or "")
    assert list(numbers) == [0, 1, 4]


def test_inside_a_loop_the_way_out_is_said() -> None:
    """Where an event loop runs, as in a notebook, a coroutine function is refused; in another thread it runs."""

    async def inside() -> Recording:
        with pytest.raises(InputError, match=r"asyncio\.to_thread\(deskcheck\.trace, later"):
            deskcheck.trace(later, 3)
        assert deskcheck.trace(squares, 3).run_result.result == "[0, 1, 4]"
        return await asyncio.to_thread(deskcheck.trace, later, 3)

    assert asyncio.run(inside()).run_result.result == "4"


def test_an_exception_inside_is_the_calls() -> None:
    """What leaves the coroutine ends the call."""

    async def fails() -> None:
        raise KeyError("inside")

    assert record(fails).run_result.detail == "KeyError: 'inside'"


def test_a_coroutine_of_a_plain_function_is_refused_inside_a_loop_too() -> None:
    """It is not recorded as an error of the program's, and nothing warns that it was never awaited."""

    def gives() -> Any:
        return later(3)

    async def inside() -> None:
        for function in (gives, functools.wraps(later)(gives)):
            with pytest.raises(InputError, match=r"asyncio\.to_thread"):
                deskcheck.trace(function)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(inside())
        gc.collect()
    assert deskcheck.trace(gives).run_result.result == "4"


def test_what_a_decorator_runs_by_itself_is_its_own() -> None:
    """A plain function around a coroutine function needs no loop; its own generator is drawn; one that names itself
    as what it wraps ends the search."""

    @functools.wraps(later)
    def in_a_thread(x: int) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: asyncio.run(later(x))).result()

    @functools.wraps(squares)
    def doubled(count: int) -> Iterator[int]:
        for value in squares(count):
            yield 2 * value

    async def inside() -> Recording:
        return deskcheck.trace(in_a_thread, 3)

    assert asyncio.run(inside()).run_result.result == "4"
    assert deskcheck.trace(doubled, 3).run_result.result == "[0, 2, 8]"
    in_a_thread.__wrapped__ = in_a_thread
    assert whole_call(in_a_thread, squares(1)).drawn is False


def test_a_cancelled_task_is_how_the_call_ended() -> None:
    """`CancelledError` is no `Exception`, and is recorded all the same."""

    async def cancelled() -> None:
        task = asyncio.ensure_future(asyncio.sleep(60))
        task.cancel()
        await task

    recording = record(cancelled)
    assert (recording.outcome, recording.run_result.exception) == (Outcome.RAISED, "CancelledError")
