"""The transcript of a method that asks several times, which is stored with an answer.

A solver puts it into the metadata of Inspect's sample, as ``attempts``. The table of samples has it as JSON,
and `deskcheck view RUN_FOLDER SAMPLE` shows it.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

SHOWN_CHARS = 20_000
"""The limit of a prompt, completion, program or trace in the transcript; the log has all of it."""
TRANSCRIPT_CHARS = 1_000_000
LEFT_OUT = "[left out: the transcript is long; the log has it]"
_TEXTS = ("prompt", "completion", "code", "trace")


@dataclass(slots=True, kw_only=True)
class TranscriptLine:
    """A line of the transcript."""

    kind: str
    """``call`` of the model, ``tests``, ``calls`` of a program on inputs, ``trace``, ``script`` or
    ``choice``."""
    step: str
    """The name of the step in the method."""
    prompt: str = ""
    completion: str = ""
    stop_reason: str | None = None
    tokens: tuple[int, int] = (0, 0)
    code: str = ""
    passed: int | None = None
    of: int | None = None
    verdict: str = ""
    """The outcome; of tests, empty if all passed."""
    trace: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The fields that are not empty, JSON-able."""
        return {
            name: value
            for name, value in asdict(self).items()
            if value not in (None, "", (0, 0))  # an attempt that passed 0 tests keeps the 0
        }


def shortened(text: str) -> str:
    """A text as a line of the transcript keeps it."""
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "\n[cut]"


def transcript(
    lines: Iterable[TranscriptLine], *, calls: int, runs: int, tokens: int, ended: str = "", left_out: int = 0
) -> dict[str, Any]:
    """The transcript of one answer, JSON-able. If it is very long, later lines have no texts.

    calls: of the model. runs: in the sandbox. ended: the reason why there were no more attempts. left_out:
    visible tests that cannot be run separately.
    """
    attempts = [line.to_dict() for line in lines]
    size = 0
    for attempt in attempts:
        texts = [name for name in _TEXTS if name in attempt]
        size += sum(len(attempt[name]) for name in texts)
        if size > TRANSCRIPT_CHARS:
            attempt |= dict.fromkeys(texts, LEFT_OUT)
    return {
        "calls": calls,
        "runs": runs,
        "tokens": tokens,
        "ended": ended,
        "left_out": left_out,
        "attempts": attempts,
    }
