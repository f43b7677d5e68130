"""Compares a predicted run with the true one, state by state, up to the first divergence.

A step is judged if all steps before it were exact, so that it was predicted from a true state. States after
the first divergence are predicted from a wrong state, and are not judged. States can be those of lines or of
instructions; for jumps, give the true states that the jumps should have reached (`reached`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice

from deskcheck.notation.state import Frame, Moment


class Stop(StrEnum):
    """The reason for the end of the predicted states.

    END: the run ended. UNREADABLE: the next text could not be read as a state. BUDGET: the limit for steps or
    for the length of the text was reached.
    """

    END = "end"
    UNREADABLE = "unreadable"
    BUDGET = "budget"


class Divergence(StrEnum):
    """The first difference between a predicted run and the true one.

    NEXT_LINE: a different event or place (line, function, call stack), or an end too early or too late.
    VALUE: the right place, but different values or output. UNREADABLE: no state could be read. BUDGET: all
    predicted states are exact, and the others were not asked for, so the model made no error.
    """

    VALUE = "value"
    NEXT_LINE = "next_line"
    UNREADABLE = "unreadable"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class JudgedStep:
    """Which parts of a predicted state are right."""

    place: bool
    """Kind of event, and function, file, line and call of every frame."""
    values: bool
    """Variables, iterators, globals, returned or raised values, and output, even if the place is wrong."""

    @property
    def exact(self) -> bool:
        """The state is the true one."""
        return self.place and self.values


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAgreement:
    """The agreement of a predicted run with the true one."""

    exact: int
    """Number of states before the first divergence."""
    judged: int
    """`exact`, plus 1 if the model made an error. `exact` / `judged` is the accuracy from true states."""
    places: int
    """Number of judged states with the right place."""
    values: int
    """Number of judged states with the right values."""
    first: Divergence | None
    """The first divergence; None if the whole run is right."""


def compare_step(predicted: Moment, true: Moment) -> JudgedStep:
    """Compares a predicted state with the true one: its place, and its values."""
    same_place = _place(predicted) == _place(true)
    if len(predicted.frames) != len(true.frames):
        return JudgedStep(same_place, False)
    if not same_place:
        predicted = _placed_as(predicted, true)
    return JudgedStep(same_place, predicted == true)


def compare_runs(predicted: Iterable[Moment], true: Iterable[Moment], stop: Stop) -> RunAgreement:
    """Compares predicted states with true ones, in order, up to the first difference.

    Leave out the states that the model was given from both. stop: the reason for the end of the predicted
    states. Neither iterator is read beyond the first divergence.
    """
    exact = 0
    ahead, end = iter(predicted), iter(true)
    for mine in ahead:
        theirs = next(end, None)
        if theirs is None:
            return RunAgreement(
                exact=exact, judged=exact + 1, places=exact, values=exact, first=Divergence.NEXT_LINE
            )
        step = compare_step(mine, theirs)
        if not step.exact:
            first = Divergence.VALUE if step.place else Divergence.NEXT_LINE
            return RunAgreement(
                exact=exact,
                judged=exact + 1,
                places=exact + step.place,
                values=exact + step.values,
                first=first,
            )
        exact += 1
    if next(end, None) is None and stop is not Stop.UNREADABLE:
        return RunAgreement(exact=exact, judged=exact, places=exact, values=exact, first=None)
    if stop is Stop.BUDGET:
        return RunAgreement(exact=exact, judged=exact, places=exact, values=exact, first=Divergence.BUDGET)
    first = Divergence.UNREADABLE if stop is Stop.UNREADABLE else Divergence.NEXT_LINE
    return RunAgreement(exact=exact, judged=exact + 1, places=exact, values=exact, first=first)


def reached(true: Iterable[Moment], jumps: Iterable[int]) -> Iterator[Moment]:
    """The true states that steps of these numbers of events should reach, and then all later states.

    true: the states after the first one. The later states show whether the run should have ended.
    """
    states = iter(true)
    for jump in jumps:
        passed = list(islice(states, jump))
        if len(passed) < jump:
            return
        yield passed[-1]
    yield from states


def _place(moment: Moment) -> tuple[object, ...]:
    frames = [(f.function, f.file, f.line, f.at, f.via, f.offset) for f in moment.frames]
    return (moment.kind, moment.instruction, *frames)


def _placed_as(moment: Moment, target: Moment) -> Moment:
    """A moment with the event and the places of another of the same depth."""
    frames = [_at(mine, theirs) for mine, theirs in zip(moment.frames, target.frames, strict=True)]
    return replace(moment, kind=target.kind, instruction=target.instruction, frames=tuple(frames))


def _at(frame: Frame, target: Frame) -> Frame:
    return replace(target, locals=frame.locals, stack=frame.stack)
