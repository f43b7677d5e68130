"""How well a model runs recorded programs: from the start to the end, and each step from its true state."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from deskcheck.ask.results.statistics import Interval, mean_interval
from deskcheck.ask.results.steps import PredictedRun, Steps, steps_of
from deskcheck.notation.divergence import RunAgreement
from deskcheck.recording import Recording
from deskcheck.teach.small.interpreter import StepModel
from deskcheck.teach.small.stepper import SteppedRun, Stepper, exact_steps, start_of, true_states
from deskcheck.teach.small.traces import TRACES, exact_events, written_runs

_TRACES_AT_ONCE = 16
"""Whole traces that are written together: each has its own keys and values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepped:
    """A recording, a model's run of it, and where the two differ."""

    recording: Recording
    run: SteppedRun
    agreement: RunAgreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The scores of a model."""

    steps: Steps
    """Scores of the chained runs (`ask.results.steps`)."""
    from_true_states: Interval | None
    """Share of exact steps from true states, clustered by program; None if it was not measured."""


def run_all(
    model: StepModel,
    recordings: Sequence[Recording],
    *,
    rows: int = 64,
    budget: int = 1000,
    jumps: Sequence[int] = (1,),
    notation: str = "dynamic",
    note: Callable[[int], None] = lambda steps: None,
) -> Iterator[Stepped]:
    """The model's run of each recording from its first state, in the order in which the runs end.

    notation: of states, or of whole traces (`traces.TRACES`), which are not bounded by `budget`. note:
    receives the number of steps after each round.
    """
    if notation in TRACES:
        for number, run, agreement in written_runs(
            model, recordings, notation, rows=min(rows, _TRACES_AT_ONCE)
        ):
            note(len(run.jumps))
            yield Stepped(recording=recordings[number], run=run, agreement=agreement)
        return
    stepper = Stepper(model, rows=rows, budget=budget, jumps=jumps)
    for number, run in stepper.run(
        (start_of(recording, notation=notation) for recording in recordings), note
    ):
        true = true_states(recordings[number], notation=notation)
        yield Stepped(recording=recordings[number], run=run, agreement=run.against(true))


def report(
    model: StepModel,
    stepped: Sequence[Stepped],
    *,
    steps_each: int | None = None,
    notation: str = "dynamic",
    rows: int = 64,
) -> Evaluation:
    """The scores of runs. steps_each: also ask for this many steps of each recording from true states."""
    steps = steps_of(
        (
            PredictedRun(
                key=item.recording.id,
                asked=len(item.run.jumps),
                agreement=item.agreement,
                why=item.run.why or "",
            ),
            item.recording.program.code,
        )
        for item in stepped
    )
    assert steps is not None  # there is at least one recording
    if steps_each is None:
        return Evaluation(steps=steps, from_true_states=None)
    scores: list[float] = []
    clusters: list[str] = []
    for item in stepped:
        steps_exact = list(
            exact_events(model, item.recording, notation, limit=steps_each)
            if notation in TRACES
            else exact_steps(model, item.recording, notation=notation, rows=rows, limit=steps_each)
        )
        scores += [float(exact) for exact in steps_exact]
        clusters += [item.recording.program.code] * len(steps_exact)
    return Evaluation(steps=steps, from_true_states=mean_interval(scores, clusters))
