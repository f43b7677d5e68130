"""Where a predicted run leaves the true one, and how."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from deskcheck.notation import NOTATIONS, Moment, moments
from deskcheck.notation.divergence import Divergence, JudgedStep, Stop, compare_runs, compare_step
from deskcheck.recording import Kind
from tests.tracer.conftest import FILE, run_traced

CODE = """\
def add(a, b):
    print(a)
    return a + b
total = []
for i in range(3):
    total.append(add(i, 1))
"""
TRUE = list(moments(run_traced(CODE).trace, file=FILE))


def _line(moment: Moment, line: int) -> Moment:
    return replace(moment, frames=(*moment.frames[:-1], replace(moment.running, line=line)))


def _value(moment: Moment) -> Moment:
    return replace(moment, frames=(*moment.frames[:-1], replace(moment.running, locals={"a": 77})))


def test_the_true_run_agrees_also_when_it_was_read_from_text() -> None:
    told = NOTATIONS["compact"].parse(NOTATIONS["compact"].write(iter(TRUE), CODE))
    found = compare_runs(told.moments, TRUE, Stop.END)
    assert (found.exact, found.judged, found.first) == (len(TRUE), len(TRUE), None)
    assert (found.places, found.values) == (len(TRUE), len(TRUE))


@pytest.mark.parametrize("at", [0, 5, len(TRUE) - 1])
def test_first_wrong_state_is_judged_and_nothing_after_it(at: int) -> None:
    """Place and values are told apart; what follows a divergence, right or wrong, changes nothing."""
    cases: list[tuple[Callable[[Moment], Moment], Divergence, int, int]] = [
        (lambda m: _line(m, 99), Divergence.NEXT_LINE, 0, 1),
        (_value, Divergence.VALUE, 1, 0),
        (lambda m: _value(_line(m, 99)), Divergence.NEXT_LINE, 0, 0),
    ]
    for change, kind, place, values in cases:
        predicted = [*TRUE[:at], change(TRUE[at]), *TRUE[at + 1 :]]
        found = compare_runs(predicted, TRUE, Stop.END)
        assert (found.exact, found.judged, found.first) == (at, at + 1, kind)
        assert (found.places, found.values) == (at + place, at + values)


def test_wrong_output_and_wrong_returned_value_are_values() -> None:
    printing = next(m for m in TRUE if m.output)
    assert compare_step(replace(printing, output="other"), printing) == JudgedStep(place=True, values=False)
    returning = next(m for m in TRUE if m.kind is Kind.RETURN and m.value is not None)
    assert compare_step(replace(returning, value=1000), returning) == JudgedStep(place=True, values=False)


def test_another_call_stack_is_another_place() -> None:
    deep = next(m for m in TRUE if len(m.frames) == 2)
    assert compare_step(replace(deep, frames=deep.frames[:1]), deep) == JudgedStep(place=False, values=False)


@pytest.mark.parametrize(
    ("stop", "kind", "judged"),
    [
        (Stop.END, Divergence.NEXT_LINE, 5),  # the run was said to be over
        (Stop.UNREADABLE, Divergence.UNREADABLE, 5),
        (Stop.BUDGET, Divergence.BUDGET, 4),  # the next state was never asked for
    ],
)
def test_run_that_stops_early(stop: Stop, kind: Divergence, judged: int) -> None:
    found = compare_runs(TRUE[:4], TRUE, stop)
    assert (found.exact, found.judged, found.first) == (4, judged, kind)


def test_run_that_goes_on_after_the_end_went_to_another_line() -> None:
    found = compare_runs([*TRUE, TRUE[0]], TRUE, Stop.END)
    assert (found.exact, found.judged, found.first) == (len(TRUE), len(TRUE) + 1, Divergence.NEXT_LINE)


def test_budget_that_ends_with_the_run_is_no_divergence() -> None:
    assert compare_runs(TRUE, TRUE, Stop.BUDGET).first is None
