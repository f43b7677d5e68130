"""Claims: what a run did, statement by statement, as sentences can say it. `inline` and `monologue` are made
of them.

A step is one run of a line in a frame, from its `line` event to the frame's next; steps are numbered from 1
in the order in which they begin, those of called functions among them. A generator's run from its resumption
to its next line is a step of the line that it continues. Step 0 is everything before the first.

Not told: iterators and other parts of unfinished expressions, which variables share a value, files other than
the program's own, events at instruction level.
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
    """That text is written to standard output while the step is the latest one that has begun."""
    GAP = "gap"
    """So much was not recorded before that (docs/reference/format.md, *Gaps*)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """name: of the variable (``global x`` for one of the module's, ``for x`` for a comprehension's in a
    module) or function. value: in the notation of values; for `PRINTS` the repr of the text."""

    step: int
    line: int
    what: What
    name: str | None = None
    value: str | None = None


_ENDING = {Kind.RETURN: What.RETURNS, Kind.YIELD: What.YIELDS, Kind.RAISE: What.RAISES}


def claims(moments: Iterable[Moment]) -> Iterator[Claim]:
    """All true claims about the steps of a trace, in the order of its events; the effects of a step at its
    end."""
    steps = 0
    latest = (0, 0)
    """The step that began last, and its line; 0 if that is in another file."""
    open_: list[tuple[int, int, dict[str, str] | None]] = []
    """For each frame: its step, that step's line, and its variables when the step began, if that was seen."""
    ended = False
    for moment in moments:
        if ended and open_:
            open_.pop()
        depth = len(moment.frames)
        frame = moment.running
        own = frame.file is None
        del open_[depth:]
        for count in moment.left_out.items():
            yield Claim(*latest, What.GAP, name_text(count[0]), str(count[1]))
        if moment.output:
            yield Claim(*latest, What.PRINTS, None, repr(moment.output))
        now = dict(_variables(moment))
        if moment.kind in BEGINS and len(open_) == depth - 1:
            caller = open_[-1][0] if open_ else steps
            if own and moment.kind is Kind.CALL:
                yield Claim(caller, frame.line, What.CALLS, frame.function)
                for name, value in frame.locals.items():
                    text = value_text(value, moment.objects)
                    yield Claim(caller, frame.line, What.PASSES, name_text(name), text)
        while len(open_) < depth:  # the frame's own, and those that were not seen to begin
            at = len(open_)
            open_.append((steps, moment.frames[at].line, now if at == depth - 1 else None))
        step, line, before = open_[-1]
        if moment.kind is not Kind.RAISE and own and before is not None:
            yield from _changes(step, line, before, now)
        if moment.kind is Kind.LINE or moment.kind is Kind.RESUME:
            steps += 1
            open_[-1] = (steps, frame.line, now)
            latest = (steps, frame.line if own else 0)
            if own:
                yield Claim(steps, frame.line, What.RUNS)
        elif moment.kind is not Kind.RAISE:
            open_[-1] = (step, line, now)
        if own and moment.kind in VALUED and moment.kind is not Kind.RESUME:
            text = value_text(moment.value, moment.objects)
            yield Claim(step, line, _ENDING[moment.kind], None, text)
        if own and moment.kind is Kind.UNWIND:
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


def untrue(told: Iterable[Claim], moments: Iterable[Moment]) -> list[Claim]:
    """Those claims that the trace does not bear out."""
    true = set(claims(moments))
    return [claim for claim in told if claim not in true]
