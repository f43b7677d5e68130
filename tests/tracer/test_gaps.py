"""What is left out because the user asked for less: only some code, calls to a depth, so many turns of a loop. The
whole recording of the same run knows what must be there.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from deskcheck.recording import Event, Kind, Trace
from deskcheck.recording.value import render
from deskcheck.tracer import Granularity, ReferenceTracer, TraceLimits, tracer_class
from tests.sample import spread
from tests.tracer import agree
from tests.tracer.process import needs_native
from tests.tracer.test_native import assert_agreed

TRACERS = list({ReferenceTracer.name: ReferenceTracer, tracer_class().name: tracer_class()}.values())
each_tracer = pytest.mark.parametrize("tracer", TRACERS, ids=lambda tracer: tracer.name)
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


def whole(traced: Callable[..., Any], granularity: Granularity = Granularity.LINE) -> Trace:
    trace: Trace = traced(PROGRAM, granularity=granularity).trace
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
@pytest.mark.parametrize("depth", spread([2, 1, 3, 50, 4], 3))
@pytest.mark.parametrize("granularity", list(Granularity))
def test_calls_are_recorded_to_a_depth(
    depth: int, granularity: Granularity, tracer: Any, traced: Callable[..., Any]
) -> None:
    """A frame that begins when so many recorded ones are running is left out and counted; every other event
    is there, with its state."""
    limits = TraceLimits(call_depth=depth)
    trace = traced(PROGRAM, limits=limits, granularity=granularity, tracer_class=tracer).trace
    kept, deep = frames_too_deep(whole(traced, granularity), depth)
    assert [seen(event) for event in trace] == kept
    assert sum(event.left_out.get("deep", 0) for event in trace) == deep
    assert (deep > 0) == (depth < 50)


@each_tracer
def test_the_count_stands_where_the_calls_were(tracer: Any, traced: Callable[..., Any]) -> None:
    """What was left out is said at the next event: fib(3) is five calls, four of them deeper."""
    source = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\na = fib(3)\nb = 4\n"
    trace = traced(source, limits=TraceLimits(call_depth=2), tracer_class=tracer).trace
    assert [(e.kind, e.line, e.left_out) for e in trace if e.left_out] == [(Kind.RETURN, 2, {"deep": 4})]


@needs_native
@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ({"call_depth": 2}, 2),
        *(
            pytest.param(asked, 5, marks=pytest.mark.exhaustive)
            for asked in ({"call_depth": 2}, {"only": ("f",)}, {"repetitions": 2})
        ),
    ],
    ids=str,
)
def test_the_tracers_leave_out_the_same(asked: dict[str, Any], count: int) -> None:
    """Both tracers agree, gaps and all, on programs that nobody wrote."""
    setting = agree.Setting(limits=TraceLimits(events=5_000, **asked), seconds=30)
    assert assert_agreed(agree.generated(count, seed=5), setting) == count


LOOPS = """
    def numbers(n):
        k = 0
        while k < n:
            k += 1
            got = yield k
            if k == 5:
                odd = got
    def halves(n):
        if n > 2:
            return n
        try:
            return 1 // n
        except ZeroDivisionError as error:
            return str(error)
    def main():
        held = []
        for i in range(8):
            held.append(halves(i))
            try:
                if i % 2:
                    raise ValueError(i)
            except ValueError:
                held.append([j for j in range(i)])
            if i == 6:
                special = True
        total = sum(numbers(9))
        for x in numbers(7):
            total += x; held.append(total)
        some = numbers(4)
        for i in range(6):
            held.append(next(some, None))
        return total, sum(a * a for a in range(6))
    main()
    for q in range(5): q
"""


def first_repetitions(trace: Trace, most: int) -> tuple[list[tuple[Any, ...]], int, int]:
    """The events of a whole trace that are left, and how many repeated and how many frames were called in gaps."""
    kept: list[tuple[Any, ...]] = []
    counts: Counter[tuple[Any, ...]] = Counter()
    stack: list[int | None] = []
    """Frames that run; None for one that is left out whole."""
    known, gaps, skipped = set(), set(), set()
    repeated = called = 0
    for event in trace:
        kind, frame = event.kind, event.frame
        if kind in (Kind.CALL, Kind.RESUME):
            above = next((number for number in reversed(stack) if number is not None), None)
            in_gap = above in gaps
            gaps.discard(frame)
            skipped.discard(frame)
            if in_gap and frame not in known:
                called += 1
                stack.append(None)
                continue
            known.add(frame)
            stack.append(frame)
            if in_gap:
                gaps.add(frame)
                skipped.add(frame)
        if stack[-1] is None:
            if kind in (Kind.RETURN, Kind.UNWIND, Kind.YIELD):
                stack.pop()
            continue
        out = frame in skipped
        if kind in (Kind.LINE, Kind.RAISE, Kind.RESUME, Kind.INSTRUCTION) and not out:
            place = event.offset if kind is Kind.INSTRUCTION else event.line
            counts[frame, kind, place] += 1
            out = counts[frame, kind, place] > most
            if out and kind is Kind.RESUME:
                skipped.add(frame)
        out = out and kind not in (Kind.RETURN, Kind.UNWIND)
        (gaps.add if out else gaps.discard)(frame)
        repeated += out
        if not out:
            kept.append(seen(event))
        if kind in (Kind.RETURN, Kind.UNWIND, Kind.YIELD):
            stack.pop()
    return kept, repeated, called


@each_tracer
@pytest.mark.parametrize("most", spread([2, 1, 4, 100], 3))
@pytest.mark.parametrize("granularity", list(Granularity))
def test_loops_are_recorded_so_many_times(
    most: int, granularity: Granularity, tracer: Any, traced: Callable[..., Any]
) -> None:
    """What is beyond is left out and counted, event by event; what is there shows the state that the whole
    recording shows."""
    if granularity is Granularity.INSTRUCTION and sys.version_info < (3, 12):
        pytest.skip("offsets in a comprehension's own code cannot be told from those around it here")
    limits = TraceLimits(repetitions=most)
    trace = traced(LOOPS, limits=limits, granularity=granularity, tracer_class=tracer).trace
    kept, repeated, called = first_repetitions(traced(LOOPS, granularity=granularity).trace, most)
    assert [seen(event) for event in trace] == kept
    assert sum(event.left_out.get("repeated", 0) for event in trace) == repeated
    assert sum(event.left_out.get("called", 0) for event in trace) == called
    assert (repeated > 0) == (most < 100)


@each_tracer
def test_a_long_loop_is_short(tracer: Any, traced: Callable[..., Any]) -> None:
    """Three turns of ten thousand are there, the rest is a number, and what the loop made is right."""
    source = "made = []\nfor n in range(10000):\n    made.append(n % 3)\nmade = sum(made)\n"
    trace = traced(source, limits=TraceLimits(repetitions=3), tracer_class=tracer).trace
    assert [(e.line, e.left_out) for e in trace][-3:] == [
        (3, {}),
        (4, {"repeated": 2 * 9997 + 1}),
        (4, {}),
    ]
    assert trace[-2].locals["made"].length == 10000
    assert trace[-1].locals["made"].atom == 9999


@each_tracer
def test_what_unseen_code_changes_is_seen_afterwards(tracer: Any, traced: Callable[..., Any]) -> None:
    """A destructor that is not recorded runs at a line that itself can change nothing."""
    source = """
        class Dies:
            def __init__(self, held):
                self.held = held
            def __del__(self):
                self.held.append(len(self.held))
        def main():
            held = []
            for turn in range(4):
                one = Dies(held)
                one = None
                two = turn
            return held
        main()
    """
    for limits in (TraceLimits(only=("main",)), TraceLimits(repetitions=2), TraceLimits(call_depth=2)):
        trace = traced(source, limits=limits, tracer_class=tracer).trace
        lengths = [len(e.locals["held"].items) for e in trace if e.function == "main" and e.line == 11]
        assert lengths == list(range(1, len(lengths) + 1)), limits
        assert len(lengths) > 1


def test_limits_that_make_no_sense_are_refused() -> None:
    """At the door, with the value."""
    for name in ("call_depth", "repetitions"):
        with pytest.raises(ValueError, match=f"{name}=0"):
            TraceLimits(**{name: 0})  # type: ignore[arg-type]
