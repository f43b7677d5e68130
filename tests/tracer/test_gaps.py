"""What is left out because the user asked for less: only some code, calls to a depth. The
whole recording of the same run knows what must be there.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from deskcheck.recording import Event, Kind, Trace
from deskcheck.recording.value import render
from deskcheck.tracer import Level, ReferenceTracer, TraceLimits, tracer_class
from tests.tracer import agree
from tests.tracer.test_native import assert_agreed

TRACERS = list({ReferenceTracer.name: ReferenceTracer, tracer_class().name: tracer_class()}.values())
each_tracer = pytest.mark.parametrize("tracer", TRACERS, ids=lambda tracer: tracer.name)
native_is_built = pytest.mark.skipif(
    not agree.native_is_built(), reason="the native tracer is not built here: nothing to compare"
)

PROGRAM = """
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)
    def items(n):
        for i in range(n):
            yield [x + i for x in range(2)]
    class Shop:
        def prices(self, names):
            def price(name):
                return -fib(name)
            return sorted(names, key=price)
    def main():
        some = items(3)
        held = [fib(3), next(some)]
        held.append(Shop().prices([1, 3, 2]))
        rest = list(some)
        return held, rest, sum(x for pair in items(2) for x in pair)
    try:
        main()
        fib(None)
    except TypeError:
        done = True
"""


def seen(event: Event) -> tuple[Any, ...]:
    """What an event shows, without numbers of frames and objects."""
    shown = {name: render(value).split("#")[0] for name, value in event.locals.items()}
    return event.kind, event.function, event.line, shown


def whole(traced: Callable[..., Any], level: Level = Level.LINE) -> Trace:
    trace: Trace = traced(PROGRAM, level=level).trace
    return trace


@each_tracer
@pytest.mark.parametrize(
    ("name", "functions"),
    [
        ("fib", {"fib"}),
        ("program.fib", {"fib"}),
        ("program.py::Shop", {"Shop", "Shop.prices", "Shop.prices.<locals>.price"}),
        ("Shop.prices.price", {"Shop.prices.<locals>.price"}),
        ("program.py::main", {"main", "main.<locals>.<genexpr>"}),
        ("other", set()),
        ("other.py", set()),
        ("other.py::fib", set()),
        ("fi", set()),
    ],
)
def test_only_what_is_named_is_recorded(
    name: str, functions: set[str], tracer: Any, traced: Callable[..., Any]
) -> None:
    """The events of the code that is named, whatever called it, with the state that the whole recording
    shows at them; of all other code none."""
    part = traced(PROGRAM, limits=TraceLimits(only=(name,)), tracer_class=tracer).trace
    expected = [seen(event) for event in whole(traced) if event.function in functions]
    assert [seen(event) for event in part] == expected


@each_tracer
def test_a_module_that_is_named_is_recorded_whole(tracer: Any, traced: Callable[..., Any]) -> None:
    """Naming a module, or its file, is naming everything in it."""
    for name in ("program", "program.py"):
        assert (
            traced(PROGRAM, limits=TraceLimits(only=(name,)), tracer_class=tracer).trace.rows
            == whole(traced).rows
        )


@each_tracer
def test_the_caller_is_the_nearest_that_is_recorded(tracer: Any, traced: Callable[..., Any]) -> None:
    """A call that comes through code that is not recorded says so, as one through a library does."""
    trace = traced(PROGRAM, limits=TraceLimits(only=("main", "fib")), tracer_class=tracer).trace
    callers = [json.loads(event.row.caller) for event in trace if event.row.caller]
    assert [caller["frame"] for caller in callers if caller.get("via") == "Shop.prices"] == [0, 0, 0]


def frames_too_deep(trace: Trace, depth: int) -> tuple[list[tuple[Any, ...]], int]:
    """The events that are left of a whole trace, and how many frames began or went on too deep."""
    kept, numbers, deep = [], set(), 0
    stack: list[bool] = []
    for event in trace:
        if event.kind in (Kind.CALL, Kind.RESUME):
            running = sum(stack)
            recorded = event.frame in numbers or running < depth
            if recorded:
                numbers.add(event.frame)
            else:
                deep += 1
            stack.append(recorded)
        if stack[-1]:
            kept.append(seen(event))
        if event.kind in (Kind.RETURN, Kind.UNWIND, Kind.YIELD):
            stack.pop()
    return kept, deep


@each_tracer
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 50])
@pytest.mark.parametrize("level", list(Level))
def test_calls_are_recorded_to_a_depth(
    depth: int, level: Level, tracer: Any, traced: Callable[..., Any]
) -> None:
    """A frame that begins when so many recorded ones are running is left out and counted; every other event
    is there, with its state."""
    limits = TraceLimits(call_depth=depth)
    trace = traced(PROGRAM, limits=limits, level=level, tracer_class=tracer).trace
    kept, deep = frames_too_deep(whole(traced, level), depth)
    assert [seen(event) for event in trace] == kept
    assert sum(event.left_out.get("deep", 0) for event in trace) == deep
    assert (deep > 0) == (depth < 50)


@each_tracer
def test_the_count_stands_where_the_calls_were(tracer: Any, traced: Callable[..., Any]) -> None:
    """What was left out is said at the next event: fib(3) is five calls, four of them deeper."""
    source = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\na = fib(3)\nb = 4\n"
    trace = traced(source, limits=TraceLimits(call_depth=2), tracer_class=tracer).trace
    assert [(e.kind, e.line, e.left_out) for e in trace if e.left_out] == [(Kind.RETURN, 2, {"deep": 4})]


@native_is_built
@pytest.mark.parametrize("asked", [{"call_depth": 2}, {"only": ("f",)}], ids=str)
def test_the_tracers_leave_out_the_same(asked: dict[str, Any]) -> None:
    """Both tracers agree, gaps and all, on programs that nobody wrote."""
    setting = agree.Setting(limits=TraceLimits(events=5_000, **asked), seconds=30)
    assert assert_agreed(agree.generated(10, seed=5), setting) == 10


def test_limits_that_make_no_sense_are_refused() -> None:
    """At the door, with the value."""
    for name in ("call_depth", "repetitions"):
        with pytest.raises(ValueError, match=f"{name}=0"):
            TraceLimits(**{name: 0})  # type: ignore[arg-type]
