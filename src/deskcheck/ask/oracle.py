"""The model ``deskcheck/oracle``: it answers with the truth. It shows that questions can be answered and that
marking is right: anything but a score of 1 is a fault of ours.

No model can know the truth from its prompt, so the oracle has a channel that no other has: whoever makes the
samples of a task tells `remember` of each. The channel lives in this process.
"""

from collections.abc import Iterable

from deskcheck.ask.parsing import CLOSE, OPEN
from deskcheck.ask.sample import Sample

_answers: dict[str, str] = {}


def remember(samples: Iterable[Sample]) -> None:
    """Tell the oracle the answers. Samples with one prompt have answers that are equally right."""
    _answers.update((sample.prompt, sample.answer) for sample in samples)


def forget(samples: Iterable[Sample]) -> None:
    """Free what was remembered."""
    for sample in samples:
        _answers.pop(sample.prompt, None)


def completion(prompt: str) -> str:
    """The oracle's completion; without an answer for a prompt that it was not told of."""
    answer = _answers.get(prompt)
    return "I was not told." if answer is None else f"{OPEN}{answer}{CLOSE}"
