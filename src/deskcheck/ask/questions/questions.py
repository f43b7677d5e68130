"""`QUESTIONS`: the kinds of question there are, by name; and how one of one's own is added."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from deskcheck.ask.kinds.changes import changes
from deskcheck.ask.kinds.control import after_loop, branch, coverage, iterations, visit
from deskcheck.ask.kinds.exceptions import exception
from deskcheck.ask.kinds.moves import move
from deskcheck.ask.kinds.objects import alias, calls, type_
from deskcheck.ask.kinds.results import input_, output
from deskcheck.ask.kinds.runs import history, next_line, path, state
from deskcheck.ask.kinds.step import step
from deskcheck.ask.samples.kind import Ask, Question, Score
from deskcheck.ask.samples.steps import StepOptions
from deskcheck.extensions import Registry

QUESTIONS = Registry(
    "questions",
    Question,
    [
        Question("output", output, 1, "what does the call return, or the program print?"),
        Question("input", input_, 1, "which arguments make the function return this value? answers are run"),
        Question(
            "next_line",
            next_line,
            4,
            "which line of the frame runs next?",
            of_raised=True,
            shows_globals=True,
        ),
        Question(
            "state",
            state,
            4,
            "what is the value of a variable just before a line runs for the k-th time?",
            of_raised=True,
        ),
        Question("history", history, 2, "which values does a variable hold during a call?", of_raised=True),
        Question("path", path, 1, "which lines run, in order?", of_raised=True),
        Question(
            "exception",
            exception,
            1,
            "which exception leaves the run, and which line raises it?",
            of_raised=True,
        ),
        Question(
            "step",
            step,
            4,
            "what is the whole state one event after a given one, or several, or one before?",
            of_raised=True,
            shows_globals=True,
            shows_call=False,
        ),
        Question("branch", branch, 2, "which way does a condition go, the k-th time?", of_raised=True),
        Question("iterations", iterations, 2, "how many times does the body of a loop run?", of_raised=True),
        Question("after_loop", after_loop, 2, "what is a variable when a loop has ended?", of_raised=True),
        Question("visit", visit, 4, "which line runs after a line, the k-th time?", of_raised=True),
        Question(
            "move",
            move,
            4,
            "where does a debugger go by step, until or return?",
            of_raised=True,
            shows_globals=True,
        ),
        Question("coverage", coverage, 2, "does a line run at all?", of_raised=True),
        Question("calls", calls, 1, "which functions call which, and how often?", of_raised=True),
        Question("changes", changes, 1, "what does the call change of what its arguments hold?"),
        Question("alias", alias, 2, "which variables are the same object?", of_raised=True),
        Question("type", type_, 4, "of which class is the value of a variable?", of_raised=True),
    ],
)
"""Kind of question -> the function that asks it of a recording."""


def kind_of(name: str, steps: StepOptions | None = None) -> Question:
    """The kind of question of that name. steps: how `step` asks."""
    found = QUESTIONS[name]
    if steps is None or found.ask is not step:
        return found
    return replace(found, ask=partial(step, options=steps))


def question(
    name: str, *, about: str, per_recording: int = 1, score: Score | None = None
) -> Callable[[Ask], Question]:
    """Make a kind of question of a function that asks it.

        @question("events", about="how many events does the run have?")
        def events(recording, rng, per_recording):
            yield sample_about(
                recording, "events", task="How many events does this run have?",
                asked=f"How it is run: {how_run(recording.program)}", answer=str(len(recording.trace)),
            )

    The function is given the recording, a generator that is seeded for it, and how many samples are wanted at
    most. It raises `Unfit` for a recording that it does not ask about. about: what is asked, in a sentence.
    score: see `Question`.
    """
    return lambda ask: QUESTIONS.register(Question(name, ask, per_recording, about, score))
