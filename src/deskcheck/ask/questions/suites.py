"""Published question sets in their own format. They need no recording: the set has the answers.

CRUXEval (Gu et al. 2024, arXiv:2401.03065): 800 functions with an input and an output; both directions.
Marked as the set marks: by Python's ``==`` (``strict=False``). The words of the prompt are ours, so scores
compare between models here, and with published ones only roughly.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from deskcheck.ask.answers.allowed import Refused
from deskcheck.ask.kinds.results import input_sample, output_sample
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.source import ShownSource
from deskcheck.recording import InputError, Program


@dataclass(frozen=True, slots=True)
class Suite:
    """A published set as questions. about: what is asked of which. corpus: its name among the sources of
    programs."""

    name: str
    about: str
    corpus: str
    sample: Callable[[Program], Sample]

    def samples(self, path: str | None = None) -> Iterator[Sample]:
        """The samples in the order of the set: of a file of it, or (None) fetched from its public home.

        Raises:
            InputError: the file is missing or no file of the set, a row has no answer, or its input cannot be
                an answer.
        """
        for program in _programs(self.corpus if path is None else f"{self.corpus}:{path}"):
            try:
                yield self.sample(program)
            except Refused as reason:
                raise InputError(
                    f"{self.name}: {program.id}: its own input is no allowed answer: {reason}"
                ) from None


def _programs(source: str) -> Iterator[Program]:
    from deskcheck.corpus import programs

    yield from programs(source)


def _answer(program: Program) -> str:
    if program.expected is None:
        raise InputError(f"{program.id}: has no published answer; the key 'output' holds it in CRUXEval.")
    return program.expected


def _shown(program: Program) -> tuple[ShownSource, ...]:
    return (ShownSource(program.filename, tuple(enumerate(program.code.splitlines(), 1)), True),)


def _cruxeval_output(program: Program) -> Sample:
    return output_sample(program, _shown(program), _answer(program), strict=False)


def _cruxeval_input(program: Program) -> Sample:
    return input_sample(program, _shown(program), _answer(program), strict=False)


SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in [
        Suite("cruxeval_output", "CRUXEval: what the function returns", "cruxeval", _cruxeval_output),
        Suite("cruxeval_input", "CRUXEval: an input that gives the output", "cruxeval", _cruxeval_input),
    ]
}
"""Name of a suite -> the suite."""
