"""Questions about a recording, and what `alone` answers to their prompts."""

from collections import Counter
from collections.abc import Iterator, Mapping

from deskcheck.ask import QUESTIONS
from deskcheck.recording import Recording
from tests.witness import alone
from tests.witness.alone import check

MOST = {"next_line": 100, "move": 100}
"""Questions of one recording: of other kinds all."""
KINDS = tuple(name for name in QUESTIONS.built_in if name in alone.KINDS.values())

CONTROL = ("branch", "iterations", "after_loop", "visit", "coverage", "calls", "alias", "type")
"""Those of programs that look at themselves, for which the checker is another place than the recording was."""


def compare(
    recording: Recording,
    excluded: Mapping[str, Counter[str]] | None = None,
    kinds: tuple[str, ...] = KINDS,
) -> Iterator[tuple[str, bool, str]]:
    """(Kind, whether both say the same, what they say) of every sample that can be asked of a recording, and of
    whose prompt `alone` says something."""
    samples = {
        f"{kind} {sample.id}": sample
        for kind in kinds
        for sample in QUESTIONS[kind](
            recording,
            per_recording=MOST.get(kind, 10_000),
            excluded=None if excluded is None else excluded[kind],
        )
    }
    questions = [{"id": id_, "prompt": one.prompt, "answer": one.answer} for id_, one in samples.items()]
    for said in check(questions):
        if not said.came.startswith("not told"):
            sample = samples[said.id]
            yield sample.question, said.came == "same", f"{said.id}: {sample.answer!r}, {said.came}"
