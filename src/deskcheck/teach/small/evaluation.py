"""Recorded programs run by a model, and how well: from the start on, and each step from its true state."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from deskcheck.ask.results.statistics import Interval, mean_interval
from deskcheck.ask.results.steps import PredictedRun, Steps, steps_of
from deskcheck.notation.divergence import RunAgreement
from deskcheck.recording import Recording
from deskcheck.teach.small.interpreter import StepModel
from deskcheck.teach.small.stepper import SteppedRun, Stepper, exact_steps, start_of, true_states


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepped:
    """A recording, what a model made of it, and where the two part."""

    recording: Recording
    run: SteppedRun
    agreement: RunAgreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """steps: of the chained runs (`ask.results.steps`). each: share of the steps from true states that are
    exact, clustered by program; None where these were not asked for."""

    steps: Steps
    each: Interval | None


def run_all(
    model: StepModel,
    recordings: Sequence[Recording],
    *,
    rows: int = 64,
    budget: int = 1000,
    jumps: Sequence[int] = (1,),
    note: Callable[[int], None] = lambda steps: None,
) -> Iterator[Stepped]:
    """Every recording run by the model from its first state, as they end. note: is told of steps made."""
    stepper = Stepper(model, rows=rows, budget=budget, jumps=jumps)
    for number, run in stepper.run((start_of(recording) for recording in recordings), note):
        recording = recordings[number]
        yield Stepped(recording=recording, run=run, agreement=run.against(true_states(recording)))


def report(
    model: StepModel, stepped: Sequence[Stepped], *, each: int | None = None, rows: int = 64
) -> Evaluation:
    """The evaluation of runs. each: also ask for this many steps of every recording from its true states."""
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
    if each is None:
        return Evaluation(steps=steps, each=None)
    scores: list[float] = []
    clusters: list[str] = []
    for item in stepped:
        found = list(exact_steps(model, item.recording, rows=rows, most=each))
        scores += [float(exact) for exact in found]
        clusters += [item.recording.program.code] * len(found)
    return Evaluation(steps=steps, each=mean_interval(scores, clusters))
