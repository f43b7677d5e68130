"""The notations by name, each with its writer and reader. notation.md shows one program in all of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from deskcheck.extensions import Registry
from deskcheck.notation.bounded import VALUES, Bounded
from deskcheck.notation.forms.cwm import cwm_text, parse_cwm
from deskcheck.notation.forms.direct import direct_text, parse_direct
from deskcheck.notation.forms.dynamic import StateWriter, parse_dynamic
from deskcheck.notation.forms.inline import inline_text, parse_inline
from deskcheck.notation.forms.monologue import monologue_lines, parse_monologue
from deskcheck.notation.forms.scratchpad import (
    compact_lines,
    parse_compact,
    parse_scratchpad,
    scratchpad_lines,
)
from deskcheck.notation.lines import Parsed, split_cut
from deskcheck.notation.state import Moment, moments
from deskcheck.recording import InputError, Recording

Write = Callable[[Iterable[Moment], str], str]
"""(states, source of the program) -> text."""


@dataclass(frozen=True, slots=True)
class Notation:
    """A way to write a trace."""

    name: str
    about: str
    """What it shows, and what can be read back if that is not every state."""
    write: Write
    read: Callable[[str], Parsed]
    instructions: bool = False
    """Whether it shows every instruction, which needs a recording of that level."""
    read_beside: Callable[[str, str], Parsed] | None = None
    """Replaces `read` if the source is known, for a notation that needs the source to find lines."""

    def refuse(self, recording: Recording) -> None:
        """Raise InputError if the notation needs instructions and the recording has none."""
        if self.instructions and recording.environment.granularity != "instruction":
            raise InputError(
                f"{recording.id}: was recorded by line, and {self.name} shows every instruction. "
                "Record it with --granularity instruction."
            )

    def render(self, recording: Recording, *, limit: int | None = None) -> str:
        """The main thread's trace as text. If events are missing at its end, the last line says why.

        limit: number of values in all moments (`extent_of`). The text ends before the first moment that would
        exceed it, and its last line is `cut: values`.

        Raises InputError, as `refuse`.
        """
        self.refuse(recording)
        program = recording.program
        states = moments(recording.trace, file=program.filename, instructions=self.instructions)
        bounded = Bounded(states, limit)
        text = self.write(bounded, program.code)
        cut = VALUES if bounded.cut else recording.trace.cut or recording.run_result.cut
        return "\n".join([*([text] if text else []), f"cut: {cut}"]) if cut else text

    def parse(self, text: str, source: str | None = None) -> Parsed:
        """The states or claims of a text. Never raises: unreadable places are in `Parsed.unreadable`.

        source: the program's source.
        """
        body, cut = split_cut(text)
        if source is not None and self.read_beside is not None:
            return replace(self.read_beside(body, source), cut=cut)
        return replace(self.read(body), cut=cut)


def _lines(write: Callable[[Iterable[Moment]], Iterable[str]]) -> Write:
    return lambda states, source: "\n".join(write(states))


def _dynamic(states: Iterable[Moment], source: str) -> str:
    writer = StateWriter()
    return "\n".join([writer.text(moment) for moment in states])


def _direct(states: Iterable[Moment], source: str) -> str:
    return direct_text(states)


NOTATIONS = Registry(
    "notations",
    Notation,
    [
        Notation("direct", "how the run ended, alone", _direct, parse_direct),
        Notation(
            "scratchpad",
            "every event with all variables of its frame",
            _lines(scratchpad_lines),
            parse_scratchpad,
        ),
        Notation("compact", "every event with what changed", _lines(compact_lines), parse_compact),
        Notation("dynamic", "a whole state after the other, each by itself", _dynamic, parse_dynamic),
        Notation(
            "dynamic_instruction",
            "the same at every instruction",
            _dynamic,
            parse_dynamic,
            instructions=True,
        ),
        Notation(
            "cwm",
            "frames of Code World Model; keeps lines, variables one by one, what is returned and raised",
            cwm_text,
            parse_cwm,
            read_beside=parse_cwm,
        ),
        Notation(
            "inline",
            "comments on the source; keeps what a line did the first two times and the last",
            inline_text,
            parse_inline,
        ),
        Notation(
            "monologue",
            "sentences; keeps what lines did, not iterators nor which variables share a value",
            _lines(monologue_lines),
            parse_monologue,
        ),
    ],
)
"""The notations by name."""
