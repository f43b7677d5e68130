"""One step from a true state: what Execution Tuning (arXiv:2503.05703) and CWM (arXiv:2510.02387) train a
model to do, as a question to any model.

The prompt is, character by character, the one that the method ``dynamic_scratchpad`` puts at that state.
States are written in the notation ``dynamic``.
"""

import random
from collections.abc import Iterator
from itertools import pairwise

from deskcheck.ask.methods.ground_truth import GroundTruth, ground_truth_of
from deskcheck.ask.samples.kind import in_turns
from deskcheck.ask.samples.places import SCANNED_EVENTS, Unfit, check_arguments
from deskcheck.ask.samples.prompts import TASKS
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.source import MAX_LINES, cluster_of
from deskcheck.notation import NOTATIONS, Moment, state_text
from deskcheck.notation.layout import current_line, step_prompt
from deskcheck.recording import Recording

TEXT_CHARS = 3000
"""A longer state is not asked about."""
_EMPTY = "\n\n"
"""Stands between the parts of a prompt."""


def step(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    check_arguments(recording.program, "literal", "shown")
    truth = ground_truth_of(recording)
    if isinstance(truth, str):
        raise Unfit(truth)
    if len(truth.lines) > MAX_LINES:
        raise Unfit("the source is long")
    if len(recording.trace) > SCANNED_EVENTS:
        raise Unfit("the run is long")
    found = list(_places(truth))
    if not found:
        raise Unfit("it has no two states with short and whole values")
    drawn = in_turns(found, rng, lambda one: one[1], lambda one: one[2])
    wanted = {number: None for (number, _, _), _ in zip(drawn, range(per_recording), strict=False)}
    texts = {}
    for number, (before, after) in enumerate(pairwise(truth.states())):
        if number in wanted:
            texts[number] = state_text(before), state_text(after), after
    for number in wanted:
        yield _sample(recording, truth, number, *texts[number])


def _places(truth: GroundTruth) -> Iterator[tuple[int, str, tuple[object, ...]]]:
    """(Number of a state, what comes after it, where it is) of those that can be asked about.

    What comes: the kind of the event, and in the same frame whether it is further down the text.
    """
    fit: tuple[bool, Moment] | None = None
    for number, moment in enumerate(truth.states(), -1):
        now = _can_be_told(moment), moment
        if fit is not None and fit[0] and now[0]:
            before = fit[1]
            comes = str(moment.kind)
            if len(before.frames) == len(moment.frames):
                comes += " on" if moment.running.line > before.running.line else " back"
            yield number, comes, (before.running.function, before.running.line, before.kind, comes)
        fit = now


def _can_be_told(moment: Moment) -> bool:
    """Whether its text is short, says everything, and reads back as the same state."""
    if moment.left_out or any(
        content.get("cut") or content.get("kind") == "opaque" for content in moment.objects.values()
    ):
        return False
    text = state_text(moment)
    if len(text) > TEXT_CHARS:
        return False
    told = NOTATIONS["dynamic"].parse(text)
    return not told.unreadable and told.moments == (moment,)


def _sample(
    recording: Recording, truth: GroundTruth, number: int, before: str, after: str, moment: Moment
) -> Sample:
    question = step_prompt(truth.lines, before)
    return Sample(
        id=f"{recording.id}:step:{number}",
        question="step",
        program=recording.id,
        cluster=cluster_of(recording.program),
        parts={
            "task": TASKS["step"],
            "program": truth.text.removesuffix(_EMPTY),
            "question": question,
        },
        answer=after,
        data={
            "form": "step",
            "file": recording.program.filename,
            "line": current_line(before),
            "state": number,
            "comes": str(moment.kind),
        },
    )
