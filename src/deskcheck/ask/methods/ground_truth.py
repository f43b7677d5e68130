"""The ground truth that a model may be asked to predict of a recorded run: the program and the true states.

The program gives no answer away, as in the prompts of questions: the call in an assert replaces the assert,
and docstrings with doctests become empty lines. Lines keep their numbers. Not covered: runs of several
threads, and those that run code of other files.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from deskcheck.ask.samples.source import asserted_call, doctest_lines, without_answer
from deskcheck.notation import Frame, Moment, moments
from deskcheck.notation.calls import parsed
from deskcheck.notation.layout import program_text
from deskcheck.recording import Kind, Mode, Program, Recording
from deskcheck.recording.program import code_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundTruth:
    """A recorded run with the program that prompts show."""

    recording: Recording
    program: Program
    once: bool
    """Whether the run is over when its outermost frame is left, so that a prediction knows when to stop."""
    moved: tuple[int, int] | None = None
    """Line and column of a recorded call that is shown at the beginning of its line."""

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the program that is shown."""
        return code_lines(self.program.code)

    @property
    def text(self) -> str:
        """The program in prompts."""
        return program_text(self.program)

    def states(self, *, instructions: bool = False) -> Iterator[Moment]:
        """The true states, in order. instructions: also those at instructions that are recorded."""
        trace, file = self.recording.trace, self.program.filename
        for moment in moments(trace, file=file, instructions=instructions):
            yield moment if self.moved is None else self._as_shown(moment)

    def states_from(self, event: int, *, instructions: bool = False) -> Iterator[Moment]:
        """The true states from the event with that index."""
        rows = self.recording.trace.rows
        before = sum(instructions or rows[index].kind != Kind.INSTRUCTION for index in range(event))
        return islice(self.states(instructions=instructions), before, None)

    def _as_shown(self, moment: Moment) -> Moment:
        frames = [moment.frames[0], *(self._moved(frame) for frame in moment.frames[1:2]), *moment.frames[2:]]
        return replace(moment, frames=tuple(frames))

    def _moved(self, frame: Frame) -> Frame:
        assert self.moved is not None
        line, column = self.moved
        if frame.at is None or frame.at[0] != line:
            return frame
        return replace(frame, at=(line, frame.at[1] - column, line, frame.at[3] - column))


OTHER_FILES = "runs code of files that are not shown"
"""The reason for no ground truth if not only the program's own file runs."""


def ground_truth_of(recording: Recording) -> GroundTruth | str:
    """The true states of a recorded run; or a text, the reason why no model can be asked for them."""
    if len(recording.traces) != 1 or not recording.trace.rows:
        return "runs in several threads" if recording.traces else "none of it is recorded"
    if recording.environment.limits:
        return "parts of the run are not recorded"
    program = without_answer(recording.program)
    if program is None:
        return "the assert does not contain exactly one call"
    call = None
    if program is not recording.program:
        call = _call_in(recording.program)
        if call is None:
            return "the assert does not contain exactly one call"
    ends = 0
    for row in recording.trace.rows:
        if row.file != program.filename:
            return OTHER_FILES
        if row.kind == Kind.CALL and row.caller and call is not None:
            caller, (line, start, end) = json.loads(row.caller), call
            position = caller.get("at")
            if (
                caller["frame"] == 0
                and position
                and position[0] == line
                and not (start <= position[1] and position[3] <= end)
            ):
                return "the assert calls more than the function"
        ends += row.frame == 0 and row.kind in (Kind.RETURN, Kind.UNWIND)
    outermost = {row.frame for row in recording.trace.rows if row.kind == Kind.CALL and not row.caller}
    once = ends == 1 and outermost <= {0} and recording.trace.rows[-1].frame == 0
    moved = None if call is None else call[:2]
    return GroundTruth(recording=recording, program=_without_doctests(program), once=once, moved=moved)


def _call_in(program: Program) -> tuple[int, int, int] | None:
    """Line, first and last column of the call that the last line asserts something of."""
    code = program.code.rstrip()
    test, call = str(program.extra["assert"]).strip(), asserted_call(program)
    if call is None or not code.endswith(test):
        return None
    start = len(test.partition(call)[0].encode())
    return code.count("\n") + 1, start, start + len(call.encode())


def _without_doctests(program: Program) -> Program:
    if program.mode is Mode.SESSION or ">>>" not in program.code:
        return program
    if parsed(program.code) is None:
        return program
    left_out = doctest_lines(program.code)
    lines = code_lines(program.code)
    kept_lines = ["" if number in left_out else line for number, line in enumerate(lines, 1)]
    return replace(program, code="\n".join(kept_lines) + "\n")


def is_end(moment: Moment) -> bool:
    """Whether the outermost frame is left with this event."""
    return len(moment.frames) == 1 and moment.kind in (Kind.RETURN, Kind.UNWIND)
