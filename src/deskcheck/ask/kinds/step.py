"""One step from a true state: what Execution Tuning (arXiv:2503.05703) and CWM (arXiv:2510.02387) train a
model to do, as a question to any model.

The prompt is, character by character, the one that the method ``dynamic_scratchpad`` puts at that state.
States are written in the notation ``dynamic``. Where code of several files runs, which no method predicts,
the prompt shows of each what ran; the first frame's file is the program's own then, and frames of the
others name their file.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from deskcheck.ask.methods.ground_truth import OTHER_FILES, ground_truth_of
from deskcheck.ask.samples.kind import in_turns
from deskcheck.ask.samples.places import SCANNED_EVENTS, Unfit, check_all_recorded, check_arguments, files_of
from deskcheck.ask.samples.prompts import TASKS, files_text, functions_text
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.source import MAX_LINES, cluster_of
from deskcheck.notation import NOTATIONS, Moment, moments, state_text
from deskcheck.notation.layout import current_line, step_prompt
from deskcheck.recording import Recording

TEXT_CHARS = 3000
"""A longer state is not asked about."""
_EMPTY = "\n\n"
"""Stands between the parts of a prompt."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A run as `step` shows it. lines: of the file that frames without a file are in; text: of all files."""

    file: str
    lines: Sequence[str]
    text: str
    states: Callable[[], Iterator[Moment]]


def _shown(recording: Recording) -> _Shown:
    truth = ground_truth_of(recording)
    if not isinstance(truth, str):
        if len(truth.lines) > MAX_LINES:
            raise Unfit("the source is long")
        text = truth.text.removesuffix(_EMPTY)
        return _Shown(recording.program.filename, truth.lines, text, truth.states)
    if truth != OTHER_FILES:
        raise Unfit(truth)
    check_all_recorded(recording)
    own = recording.trace.rows[0].file
    lines = (recording.source(own) or "").splitlines()
    text = files_text(files_of(recording), numbered=True) + functions_text(recording.program)
    return _Shown(own, lines, text, lambda: moments(recording.trace, file=own))


def step(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    check_arguments(recording.program, "literal", "shown")
    truth = _shown(recording)
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


def _places(truth: _Shown) -> Iterator[tuple[int, str, tuple[object, ...]]]:
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
    recording: Recording, truth: _Shown, number: int, before: str, after: str, moment: Moment
) -> Sample:
    question = step_prompt(truth.lines, before)
    return Sample(
        id=f"{recording.id}:step:{number}",
        question="step",
        program=recording.id,
        cluster=cluster_of(recording.program),
        parts={
            "task": TASKS["step"],
            "program": truth.text,
            "question": question,
        },
        answer=after,
        data={
            "form": "step",
            "file": truth.file,
            "line": current_line(before),
            "state": number,
            "comes": str(moment.kind),
        },
    )
