"""The transcript of a method that asks several times, as it is kept beside an answer and shown.

A method's solver puts it into the metadata of Inspect's sample, as ``attempts``. The table of samples keeps
it as JSON, and `deskcheck view RUN_FOLDER SAMPLE` shows it. The method decides which lines there are.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

SHOWN_CHARS = 20_000
"""Of a prompt, a completion, a program or a trace, as the transcript keeps it; the log has all of it."""
TRANSCRIPT_CHARS = 1_000_000
LEFT_OUT = "[left out: the transcript is long; the log has it]"
_TEXTS = ("prompt", "completion", "code", "trace")


@dataclass(slots=True, kw_only=True)
class TranscriptLine:
    """A line of the transcript. kind: ``call`` of the model, ``tests``, ``calls`` of a program on inputs,
    ``trace``, ``script`` or ``choice``. step: its name in the method. What a kind does not have is empty.

    prompt: the messages. verdict: of tests, empty if all passed; else what came of it.
    """

    kind: str
    step: str
    prompt: str = ""
    completion: str = ""
    stop_reason: str | None = None
    tokens: tuple[int, int] = (0, 0)
    code: str = ""
    passed: int | None = None
    of: int | None = None
    verdict: str = ""
    trace: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The fields that have something, JSON-able."""
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
    """The transcript of one answer, JSON-able. If it is very long, the later lines have no texts.

    calls, runs, tokens: of the model, in the sandbox, read and written. ended: why there were no more
    attempts. left_out: visible tests that cannot be run by themselves.
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
