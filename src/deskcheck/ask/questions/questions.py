"""`QUESTIONS`: the kinds of question by name, and `question`, which adds one.

The kinds are those that the files of `deskcheck.ask.kinds` define, so a new file there adds its kinds.
"""

import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module

import deskcheck.ask.kinds
from deskcheck.ask.kinds.step import step_with
from deskcheck.ask.samples.kind import Ask, Question, Score
from deskcheck.ask.samples.steps import StepOptions
from deskcheck.extensions import Registry

_FIRST = (
    *("output", "input", "next_line", "state", "history", "path", "exception", "step", "branch"),
    *("iterations", "after_loop", "visit", "move", "coverage", "calls", "changes", "alias", "type"),
)
"""The order of the lists that people see. Kinds that are not named follow, file by file."""


def _in_files() -> Iterator[Question]:
    for module in pkgutil.iter_modules(deskcheck.ask.kinds.__path__):
        names = vars(import_module(f"{deskcheck.ask.kinds.__name__}.{module.name}"))
        yield from (thing for thing in names.values() if isinstance(thing, Question))


def _place(kind: Question) -> int:
    return _FIRST.index(kind.name) if kind.name in _FIRST else len(_FIRST)


QUESTIONS = Registry("questions", Question, sorted(_in_files(), key=_place))
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
