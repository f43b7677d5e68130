"""The self-check finds what is wrong with a recording, and nothing in one that is right."""

import dataclasses
import json
from pathlib import Path

import deskcheck
from deskcheck.recorder.programs import record_programs
from deskcheck.recording.reader import Recordings
from deskcheck.recording.trace import Row, Trace
from deskcheck.sources import programs
from deskcheck.sources.check import ambiguity, check, shown_address


def countdown(n: int) -> int:
    steps = 0
    while n > 0:
        n -= 1
        steps += 1
    return steps


def with_rows(trace: Trace, rows: list[Row]) -> Trace:
    return Trace(rows, thread=trace.thread)


def test_every_state_of_a_plain_loop_decides_what_comes_next() -> None:
    """In a true recording no two events with one state have different successors."""
    assert ambiguity(deskcheck.trace(countdown, 5).trace) is None


def test_a_lost_change_is_found() -> None:
    """If the changes of the loop's variables are left out, states repeat with different successors."""
    trace = deskcheck.trace(countdown, 5).trace
    blind = [row._replace(locals=None) if row.kind == "line" else row for row in trace.rows]
    found = ambiguity(with_rows(trace, blind))
    assert found is not None
    assert found[1] is None


def test_an_iterator_that_is_not_recorded_is_found() -> None:
    """Without the value stack, the same variables at a `for` line mean both going on and stopping."""

    def twice(items: list[int]) -> int:
        total = 0
        for item in items:
            total = item
        return total

    trace = deskcheck.trace(twice, [7, 7, 7]).trace
    assert ambiguity(trace) is None
    blind = [
        row._replace(stack=None, objects=None if row.kind == "line" else row.objects) for row in trace.rows
    ]
    assert ambiguity(with_rows(trace, blind)) is not None


def test_an_address_in_a_value_is_found() -> None:
    """A value that shows where an object lies in memory is named with its event."""
    recording = deskcheck.trace(countdown, 2)
    assert shown_address(recording) is None
    address = hex(0x7F3A38B33850)
    leaky = [
        row._replace(value=json.dumps(f"<C object at {address}>")) if row.value else row
        for row in recording.trace.rows
    ]
    spoilt = dataclasses.replace(recording, traces=(with_rows(recording.trace, leaky),))
    assert shown_address(spoilt) == f"event {len(leaky) - 1}: at {address}"


def test_doctests_of_the_library_show_what_they_say(tmp_path: Path) -> None:
    """The doctests of heapq are recorded, the module's own functions with them, and show what they say."""
    record_programs(programs("heapq"), tmp_path / "runs")
    report = check(Recordings(tmp_path / "runs"))
    assert report.checked >= 1
    assert report.events > 100
    assert (report.wrong, report.addresses, report.ambiguous, report.not_repeatable) == ({}, {}, {}, {})
