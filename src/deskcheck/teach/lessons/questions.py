"""Lessons of the questions of `deskcheck ask`: the prompt of `--method direct`, and the right answer."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from deskcheck.ask.methods.solvers import completion_of
from deskcheck.ask.questions.generate import check_questions
from deskcheck.ask.questions.questions import QUESTIONS, kind_of
from deskcheck.ask.samples.steps import StepOptions
from deskcheck.notation.layout import divided
from deskcheck.recording import Recording
from deskcheck.teach.lessons.rows import LeftOut, Lesson
from deskcheck.teach.lessons.settings import LessonSettings


def check(settings: LessonSettings) -> None:
    """Raises InputError for an unknown kind of question."""
    if settings.questions:
        check_questions(settings.questions, QUESTIONS)


def question_lessons(
    recording: Recording, question: str, settings: LessonSettings, left_out: LeftOut
) -> Iterator[tuple[str, list[Lesson]]]:
    """Lessons of a kind of question, in groups with the same beginning of the prompt, each after it.

    The samples are those of `deskcheck ask` with the seed of `settings`.
    """
    kind = kind_of(question, StepOptions(jump=settings.jumps))
    excluded = Counter[str]()
    samples = kind(recording, seed=settings.seed, per_recording=settings.per_recording, excluded=excluded)
    pairs = [
        (
            *divided(sample.prompt),
            completion_of(sample.prompt, sample.data["form"], sample.answer),
            sample.data.get("event"),
            sample.data.get("depth", 0),
        )
        for sample in samples
    ]
    for reason, count in excluded.items():
        left_out(question, reason, count)
    for beginning, group in groupby(pairs, key=lambda pair: pair[0]):
        yield (
            beginning,
            [
                Lesson("", prompt, completion, None, event, depth)
                for _, prompt, completion, event, depth in group
            ],
        )
