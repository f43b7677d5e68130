"""What `deskcheck.trace` takes, and what its recording says was called."""

import functools
from collections.abc import Callable
from typing import Any

import pytest

import deskcheck
from deskcheck.recording import InputError, Kind, Outcome


class Adder:
    def __init__(self, step: int) -> None:
        self.step = step

    def add(self, n: int) -> int:
        return self.step + n

    @staticmethod
    def one_more(n: int) -> int:
        return n + 1


def divide(a: int, b: int = 2) -> int:
    return a // b


@functools.wraps(divide)
def other_way(a: int, b: int) -> int:
    return divide(b, a)


@functools.cache
def doubled(n: int) -> int:
    return 2 * n


@pytest.mark.parametrize(
    ("function", "given", "told"),
    [
        (functools.partial(divide, 9), {"b": 4}, ("divide", "(9, b=4)", "literal", "2")),
        (functools.partial(divide, b=4), {"a": 9, "b": 3}, ("divide", "(b=3, a=9)", "literal", "3")),
        (functools.partial(functools.partial(divide, 9), 3), {}, ("divide", "(9, 3)", "literal", "3")),
        (Adder.one_more, {"n": 1}, ("Adder.one_more", "(n=1)", "literal", "2")),
        (doubled, {"n": 3}, ("doubled", "(n=3)", "literal", "6")),
        (Adder(1).add, {"n": 2}, ("Adder.add", "(n=2)", "in part", "3")),
        (other_way, {"a": 2, "b": 6}, ("divide", "(a=2, b=6)", "in part", "3")),
    ],
)
def test_what_was_called(
    function: Callable[..., Any], given: dict[str, Any], told: tuple[str, str, str, str]
) -> None:
    """The same call again is told only where entry and arguments make it: not of a method's object, nor where
    another function has the name."""
    recording = deskcheck.trace(function, **given)
    program = recording.program
    shown = (program.entry, program.arguments, program.extra["arguments"], recording.run_result.result)
    assert shown == told


@pytest.mark.parametrize("given", [Adder, len, functools.partial(len), 3, Adder(1)])
def test_what_is_no_function_is_refused(given: Any) -> None:
    """A class with how its object can be made."""
    with pytest.raises(
        InputError, match=r"trace\(lambda: Adder" if given is Adder else "no.*Python function|not a P"
    ):
        deskcheck.trace(given)


def test_nothing_is_recorded_after_the_call() -> None:
    """Where a program has the file name that generated code has, as `python -c` gives it, what deskcheck itself
    does when the call is over is not the program's."""
    names: dict[str, Any] = {}
    exec(compile("def f(n):\n    return n / 0\n", "<string>", "exec"), names)
    recording = deskcheck.trace(names["f"], 1)
    assert recording.run_result.outcome is Outcome.RAISED
    assert [event.kind for event in recording.trace] == [Kind.CALL, Kind.LINE, Kind.RAISE, Kind.UNWIND]
