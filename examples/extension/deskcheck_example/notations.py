"""A notation: the numbers of the lines that run, one after the other."""

from collections.abc import Iterable

from deskcheck.notation import NOTATIONS, Moment, Notation, Parsed


def written(states: Iterable[Moment], code: str) -> str:
    return "\n".join(f"{state.frames[-1].line}" for state in states if state.frames) + "\n"


def read(text: str) -> Parsed:
    """No state can be read back from line numbers."""
    return Parsed(())


lines = NOTATIONS.register(Notation("lines", "the numbers of the lines that run", written, read))
