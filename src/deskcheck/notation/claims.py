"""Claims: the effects of a run, statement by statement. `inline` and `monologue` write them.

A step is one run of a line in a frame, from its `line` event to the frame's next. Steps are numbered from 1
in the order of their beginnings, including those of called functions. From its resumption to its next line, a
generator continues a step of its line. Step 0 is everything before the first.

Claims leave out iterators and other parts of unfinished expressions, which variables share a value, other
files than the program's, and events at instruction level.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from deskcheck.notation.state import BEGINS, ENDS, MODULE, VALUED, Moment
from deskcheck.notation.values import name_text, value_text
from deskcheck.recording import Kind


class What(StrEnum):
    """The kind of a claim."""

    RUNS = "runs"
    """The step is a run of that line."""
    SETS = "sets"
    """After it, the variable has that value, and had not before."""
    UNBINDS = "unbinds"
    """After it, the variable has no value, and had one before."""
    CALLS = "calls"
    """It calls the function, whose frame begins at that line (`Claim.line`)."""
    PASSES = "passes"
    """In that call, the parameter has that value."""
    RETURNS = "returns"
    YIELDS = "yields"
    RAISES = "raises"
    """An exception is raised in the step or passes into it."""
    LEAVES = "leaves"
    """The exception leaves the frame."""
    PRINTS = "prints"
    """That text is written to standard output after the step has begun and before the next one begins."""
    GAP = "gap"
    """That number of events is missing before the step (docs/reference/format.md, *Gaps*)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One effect of a step."""

    step: int
    line: int
    what: What
    name: str | None = None
    """A function or a variable: ``global x`` in a module, ``for x`` in a comprehension of a module."""
    value: str | None = None
    """A value in its notation; for `PRINTS`, the repr of the text."""


_ENDING = {Kind.RETURN: What.RETURNS, Kind.YIELD: What.YIELDS, Kind.RAISE: What.RAISES}


def claims(moments: Iterable[Moment]) -> Iterator[Claim]:
    """All true claims about the steps of a trace, in the order of events. A step's effects are at its end."""
    steps = 0
    latest = (0, 0)
    """The last step that began, and its line; 0 in other files."""
    open_: list[tuple[int, int, dict[str, str] | None]] = []
    """For each frame: its step, the step's line, and the variables at its beginning, if they are recorded."""
    ended = False
    for moment in moments:
        if ended and open_:
            open_.pop()
        depth = len(moment.frames)
        frame = moment.running
        is_program = frame.file is None
        del open_[depth:]
        for count in moment.left_out.items():
            yield Claim(*latest, What.GAP, name_text(count[0]), str(count[1]))
        if moment.output:
            yield Claim(*latest, What.PRINTS, None, repr(moment.output))
        now = dict(_variables(moment))
        if moment.kind in BEGINS and len(open_) == depth - 1:
            caller = open_[-1][0] if open_ else steps
            if is_program and moment.kind is Kind.CALL:
                yield Claim(caller, frame.line, What.CALLS, frame.function)
                for name, value in frame.locals.items():
                    text = value_text(value, moment.objects)
                    yield Claim(caller, frame.line, What.PASSES, name_text(name), text)
        while len(open_) < depth:  # the frame's own, and those that were not seen to begin
            at = len(open_)
            open_.append((steps, moment.frames[at].line, now if at == depth - 1 else None))
        step, line, before = open_[-1]
        if moment.kind is not Kind.RAISE and is_program and before is not None:
            yield from _changes(step, line, before, now)
        if moment.kind is Kind.LINE or moment.kind is Kind.RESUME:
            steps += 1
            open_[-1] = (steps, frame.line, now)
            latest = (steps, frame.line if is_program else 0)
            if is_program:
                yield Claim(steps, frame.line, What.RUNS)
        elif moment.kind is not Kind.RAISE:
            open_[-1] = (step, line, now)
        if is_program and moment.kind in VALUED and moment.kind is not Kind.RESUME:
            text = value_text(moment.value, moment.objects)
            yield Claim(step, line, _ENDING[moment.kind], None, text)
        if is_program and moment.kind is Kind.UNWIND:
            yield Claim(step, line, What.LEAVES)
        ended = moment.kind in ENDS


def _variables(moment: Moment) -> Iterator[tuple[str, str]]:
    frame = moment.running
    module = frame.function == MODULE
    for name, value in frame.locals.items():
        yield f"for {name_text(name)}" if module else name_text(name), value_text(value, moment.objects)
    for name, value in moment.globals.get(frame.file, {}).items():
        yield name_text(name) if module else f"global {name_text(name)}", value_text(value, moment.objects)


def _changes(step: int, line: int, before: dict[str, str], now: dict[str, str]) -> Iterator[Claim]:
    for name, text in now.items():
        if before.get(name) != text:
            yield Claim(step, line, What.SETS, name, text)
    for name in before:
        if name not in now:
            yield Claim(step, line, What.UNBINDS, name)


def untrue(said_claims: Iterable[Claim], moments: Iterable[Moment]) -> list[Claim]:
    """The claims that are false according to the trace."""
    true = set(claims(moments))
    return [claim for claim in said_claims if claim not in true]
