"""The lessons of one recording: prompts and completions.

In `dynamic` and `dynamic_instruction`, a lesson is a step from one state to the state `jump` events later. In
the other notations it is a whole run. The program's text must decide a lesson: steps in other files, and
traces without an end, are left out.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from deskcheck.notation import NOTATIONS, Moment, RunningTexts, moments
from deskcheck.notation.layout import step_question, trace_prompt
from deskcheck.recording import Kind, Recording
from deskcheck.recording.program import code_lines

_ELIDING = {"direct": None, "inline": 100_000}
"""Limits for the events of a run, for notations in which a long run can be a short text: `inline` needs the
whole run in memory."""

LeftOut = Callable[[str, str, int], None]
"""Called for steps and runs without a lesson: (notation, reason, number)."""


class Lesson(NamedTuple):
    """A lesson, without its program."""

    state: str
    question: str
    completion: str
    jump: int | None
    event: int | None
    depth: int

    @property
    def prompt(self) -> str:
        return self.state + self.question


def granularity_of(notation: str) -> str:
    return "instruction" if notation in NOTATIONS and NOTATIONS[notation].instructions else "line"


def count_states(recording: Recording, notation: str) -> int:
    """The number of states of a run in a stepwise notation."""
    if recording.environment.granularity != "instruction" or NOTATIONS[notation].instructions:
        return len(recording.trace)
    return len(paths_of_states(recording, notation))


def paths_of_states(recording: Recording, notation: str) -> list[tuple[int, int, int]]:
    """The lines before, at and after each state of a run in a stepwise notation; 0 for no line."""
    every = NOTATIONS[notation].instructions
    lines = [row.line for row in recording.trace.rows if every or row.kind != Kind.INSTRUCTION]
    return list(zip([0, *lines], lines, [*lines[1:], 0], strict=False))


def step_lessons(
    recording: Recording, notation: str, chosen: Iterable[tuple[int, int]], left_out: LeftOut
) -> Iterator[Lesson]:
    """A lesson for each chosen (state, jump), in the order of the states."""
    program = recording.program
    code = code_lines(program.code)
    steps = iter(chosen)
    step = next(steps, None)
    waiting: dict[int, list[tuple[str, str, int, int, int]]] = {}
    questions: dict[tuple[int, int], str] = {}
    states = RunningTexts(file=program.filename, instructions=NOTATIONS[notation].instructions)
    position = -1
    for row in recording.trace.rows:
        if not states.advance(row):
            continue
        position += 1
        ready = waiting.pop(position, None)
        if ready is None and (step is None or step[0] != position):
            if step is None and not waiting:
                return
            continue
        text = states.text()
        for before, asks, jump, start, depth in ready or ():
            yield Lesson(before, asks, text, jump, start, depth)
        while step is not None and step[0] == position:
            jump = step[1]
            step = next(steps, None)
            line = states.current_line
            if line is None:
                left_out(notation, "in another file", 1)
                continue
            question = questions.get((line, jump))
            if question is None:
                question = questions[line, jump] = step_question(code, line, jump)
            waiting.setdefault(position + jump, []).append((text, question, jump, position, states.depth))


class _OtherFile(Exception):
    """A run entered a different file than the program's."""


def trace_lesson(recording: Recording, notation: str, budget: int, left_out: LeftOut) -> Lesson | None:
    """The lesson of a whole run. If there is none, returns None and gives the reason to `left_out`."""
    trace, program = recording.trace, recording.program
    if trace.cut or recording.run_result.cut:
        left_out(notation, "the trace is cut", 1)
        return None
    # An event is a line; no tokenizer makes less than a token of that. So a run of ten million events is not
    # written out only to be measured.
    event_limit = _ELIDING.get(notation, budget)
    if event_limit is not None and count_states(recording, notation) > event_limit:
        left_out(notation, "over the budget" if event_limit == budget else f"over {event_limit} events", 1)
        return None
    deepest = 0

    def states() -> Iterator[Moment]:
        nonlocal deepest
        for moment in moments(trace, file=program.filename):
            if moment.running.file is not None:
                raise _OtherFile
            deepest = max(deepest, len(moment.frames))
            yield moment

    try:
        text = NOTATIONS[notation].write(states(), program.code)
    except _OtherFile:
        left_out(notation, "in another file", 1)
        return None
    if not text:
        left_out(notation, "the trace does not show the end", 1)
        return None
    return Lesson("", trace_prompt(program, notation), text, None, None, deepest)
