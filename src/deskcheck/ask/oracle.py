"""The models that know more than the prompt. ``deskcheck/oracle`` answers with the truth: it shows that
questions can be answered and that marking is right, anything but a score of 1 is a fault of ours.
``deskcheck/copy`` answers questions about notebooks with what the same cell showed when it was last executed,
and with its last version: how much of a score is there for the copying. It knows which cell is next, which no
prompt says.

They have a channel that no other model has: whoever makes the samples of a task tells `remember` of each. The
channel lives in this process.
"""

from collections.abc import Iterable

from deskcheck.ask.parsing import CLOSE, OPEN
from deskcheck.ask.sample import Sample

_answers: dict[str, tuple[str, str | None]] = {}
"""Prompt -> the answer, and what can be copied from the same cell."""


def remember(samples: Iterable[Sample]) -> None:
    """Tell the oracle the answers. Samples with one prompt have answers that are equally right."""
    _answers.update((sample.prompt, (sample.answer, sample.data.get("copy"))) for sample in samples)


def forget(samples: Iterable[Sample]) -> None:
    """Free what was remembered."""
    for sample in samples:
        _answers.pop(sample.prompt, None)


def completion(prompt: str) -> str:
    """The oracle's completion; without an answer for a prompt that it was not told of."""
    answer, _ = _answers.get(prompt, (None, None))
    return "I was not told." if answer is None else f"{OPEN}{answer}{CLOSE}"


def copied(prompt: str) -> str:
    """What the same cell showed, or was, when it was executed before; empty if it never was."""
    _, copy = _answers.get(prompt, ("", None))
    return "I have nothing to copy." if copy is None else f"{OPEN}{copy}{CLOSE}"
