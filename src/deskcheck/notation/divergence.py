"""Where a predicted run leaves the true one: predicted states against true states, one after another.

Each step is judged by itself as long as all before it were exact, so that it was predicted from a true state;
what comes after the first divergence is predicted from a wrong one, and is not judged. Covers states of a
line or an instruction each; of jumps, give the true states that the jumps should have reached.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from deskcheck.notation.state import Frame, Moment


class Stop(StrEnum):
    """Why there are no more predicted states.

    END: the run ended. UNREADABLE: the next text could not be read as a state. BUDGET: no more
    steps, or no longer text, were allowed.
    """

    END = "end"
    UNREADABLE = "unreadable"
    BUDGET = "budget"


class Divergence(StrEnum):
    """How a predicted run first differs from the true one.

    NEXT_LINE: another event, or at another place (line, function, call stack); also an end too early or too
    late. VALUE: the right place, but other values or other output. UNREADABLE: no state could be read.
    BUDGET: all that was predicted is exact, and the rest was not asked for: no fault of the model.
    """

    VALUE = "value"
    NEXT_LINE = "next_line"
    UNREADABLE = "unreadable"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class JudgedStep:
    """One predicted state against the true one.

    place: kind of event, and function, file, line and call of every frame. values: variables, iterators,
    globals, what is returned or raised, what was printed; told apart from the place, which may be wrong.
    """

    place: bool
    values: bool

    @property
    def exact(self) -> bool:
        """The state is the true one."""
        return self.place and self.values


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAgreement:
    """A predicted run against the true one.

    exact: states before the first divergence, all right: the longest exact run from the start. judged: exact,
    and one more where the model itself went wrong; `exact` / `judged` is the accuracy of a step from a true
    state. places, values: of those judged, how many were right in either. first: kind of the first
    divergence; None if the whole run is right.
    """

    exact: int
    judged: int
    places: int
    values: int
    first: Divergence | None


def compare_step(predicted: Moment, true: Moment) -> JudgedStep:
    """Whether a predicted state is the true one, its place and its values apart."""
    same_place = _place(predicted) == _place(true)
    if len(predicted.frames) != len(true.frames):
        return JudgedStep(same_place, False)
    if not same_place:
        predicted = _placed_as(predicted, true)
    return JudgedStep(same_place, predicted == true)


def compare_runs(predicted: Iterable[Moment], true: Iterable[Moment], stop: Stop) -> RunAgreement:
    """Predicted states, in order, against the true ones, up to the first that differs.

    The first of either is the first that was predicted: a state that the model was given is left out of both.
    stop: why the predicted states end. Neither is read further than the first divergence.
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


def _place(moment: Moment) -> tuple[object, ...]:
    frames = [(f.function, f.file, f.line, f.at, f.via, f.offset) for f in moment.frames]
    return (moment.kind, moment.instruction, *frames)


def _placed_as(moment: Moment, target: Moment) -> Moment:
    """A moment with the event and the places of another of the same depth."""
    frames = [_at(mine, theirs) for mine, theirs in zip(moment.frames, target.frames, strict=True)]
    return replace(moment, kind=target.kind, instruction=target.instruction, frames=tuple(frames))


def _at(frame: Frame, target: Frame) -> Frame:
    return replace(target, locals=frame.locals, stack=frame.stack)
