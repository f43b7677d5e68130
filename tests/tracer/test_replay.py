"""What holds of the trace of any program, and of the states that its changes add up to.

Not: that the states are true, which tests/witness asks.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from deskcheck.recording import Event, Kind, render
from tests.sample import examples
from tests.tracer.generated import programs

PROPERTY = settings(
    max_examples=examples(20),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@PROPERTY
@given(source=programs())
def test_every_frame_that_opened_has_closed(source: str, traced: Callable[..., Any]) -> None:
    """In a finished run every frame has one call and then one return or unwind, between which it is resumed
    exactly as often as it yields; only a generator that was dropped ends at a yield, and the module is last.
    After a raise a frame goes on at a line (a handler), or it ends."""
    note(source)
    ran = traced(source)
    histories: dict[int, list[Kind]] = {}
    for event in ran.trace:
        histories.setdefault(event.frame, []).append(event.kind)
    for number, kinds in histories.items():
        assert kinds[0] is Kind.CALL, number
        steps = [kind for kind in kinds if kind not in (Kind.LINE, Kind.RAISE)]
        assert steps[-1] in (Kind.RETURN, Kind.UNWIND, Kind.YIELD)
        assert steps[1:-1] == [Kind.YIELD, Kind.RESUME] * ((len(steps) - 2) // 2)
        for kind, following in pairwise(kinds):
            assert kind is not Kind.RAISE or following in (Kind.LINE, Kind.UNWIND, Kind.RETURN)
    assert histories[0][-1] is (Kind.RETURN if ran.error is None else Kind.UNWIND)
    assert ran.trace[len(ran.trace) - 1].frame == 0


@PROPERTY
@given(source=programs(), data=st.data())
@pytest.mark.slow
def test_any_event_is_the_same_by_index_and_in_order(
    source: str, data: st.DataObject, traced: Callable[..., Any]
) -> None:
    """An event looked up by its index, in any order, has the state that it has when the trace is read."""
    note(source)
    trace = traced(source).trace

    def told(event: Event) -> tuple[Any, ...]:
        globals_ = {name: render(value, ids=True) for name, value in event.globals.items()}
        locals_ = {name: render(value, ids=True) for name, value in event.locals.items()}
        stack = [render(value, ids=True) for value in event.stack]
        return (
            event.kind,
            event.frame,
            event.line,
            locals_,
            globals_,
            stack,
            repr(event.value),
            list(event.state.active),
        )

    in_order = [told(event) for event in trace]
    for index in data.draw(st.lists(st.integers(0, len(trace) - 1), min_size=1, max_size=12)):
        assert told(trace[index]) == in_order[index]
    assert told(trace[-1]) == in_order[-1]


@pytest.mark.slow
def test_state_by_index_beyond_the_checkpoints(traced: Callable[..., Any]) -> None:
    """In a trace of thousands of events the state by index is right on both sides of every checkpoint."""
    trace = traced("total, seen = 0, []\nfor i in range(520):\n    total += i\n    seen.append(i)\n").trace
    assert len(trace) > 1_538
    totals = [repr(e.locals.get("total")) for e in trace]
    for index in (len(trace) - 1, 1537, 513, 512, 511, 1024, 1023, 0, 1536, 1025):
        assert repr(trace[index].locals.get("total")) == totals[index]
        seen = trace[index].locals.get("seen")
        assert seen is None or [item.atom for item in seen.items] == list(range(len(seen.items)))
