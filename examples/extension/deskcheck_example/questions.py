"""Two kinds of question: one whose answers are compared as values, and one that scores answers itself."""

import random
from collections.abc import Iterator

from deskcheck.ask import Sample, Unfit, question, sample_about
from deskcheck.recording import Recording


@question("longest", about="how long does the longest list of the run become?")
def longest(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    """The most items that a list has which a variable holds at any moment."""
    values = [value for event in recording.trace for value in event.locals.values()]
    lists = [len(value.items) for value in values if value.kind == "list"]
    if not lists:
        raise Unfit("has no list")
    yield sample_about(
        recording,
        "longest",
        task="How many items does the longest list have that a variable holds while this program runs?",
        asked="How it is run: " + (recording.program.arguments or "as a script"),
        answer=str(max(lists)),
    )


def near(sample: Sample, answer: str) -> float:
    """1 for the number itself, less the farther away the answer is."""
    true = int(sample.answer)
    try:
        return max(0.0, 1 - abs(int(answer) - true) / true)
    except ValueError:
        return 0.0


@question("about_how_many", about="about how many events does the run have?", score=near)
def about_how_many(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    yield sample_about(
        recording,
        "about_how_many",
        task="About how many lines run in all?",
        asked="How it is run: " + (recording.program.arguments or "as a script"),
        answer=str(len(recording.trace)),
        form="own",
    )
