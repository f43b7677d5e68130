"""`QUESTIONS`: the kinds of question by name, and `question`, which adds one."""

from collections.abc import Callable

from deskcheck.ask.kinds.changes import changes
from deskcheck.ask.kinds.control import after_loop, branch, coverage, iterations, visit
from deskcheck.ask.kinds.exceptions import exception
from deskcheck.ask.kinds.moves import move
from deskcheck.ask.kinds.objects import alias, calls, type_
from deskcheck.ask.kinds.results import input_, output
from deskcheck.ask.kinds.runs import history, next_line, path, state
from deskcheck.ask.kinds.step import step, step_with
from deskcheck.ask.samples.kind import Ask, Question, Score
from deskcheck.ask.samples.steps import StepOptions
from deskcheck.extensions import Registry

_OF_VALUES = [output, input_, next_line, state, history, path, exception, step]
_OF_CONTROL_AND_OBJECTS = [
    branch,
    iterations,
    after_loop,
    visit,
    move,
    coverage,
    calls,
    changes,
    alias,
    type_,
]
QUESTIONS = Registry("questions", Question, [*_OF_VALUES, *_OF_CONTROL_AND_OBJECTS])
"""Kind of question -> the function that asks it of a recording."""


def kind_of(name: str, steps: StepOptions | None = None) -> Question:
    """The kind of question of that name. steps: how `step` asks."""
    return QUESTIONS[name] if name != "step" or steps is None else step_with(steps)


def question(
    name: str, *, about: str, per_recording: int = 1, score: Score | None = None
) -> Callable[[Ask], Question]:
    """Make a kind of question from a function that asks it.

        @question("events", about="how many events does the run have?")
        def events(recording, rng, per_recording):
            yield sample_about(
                recording, "events", task="How many events does this run have?",
                asked=f"How it is run: {how_run(recording.program)}", answer=str(len(recording.trace)),
            )

    The function gets the recording, a generator of random numbers that is seeded for it, and the maximum
    number of samples. It raises `Unfit` for a recording that it does not ask about. about: a description of
    the question. score: see `Question`.
    """
    return lambda ask: QUESTIONS.register(Question(name, ask, per_recording, about, score))
