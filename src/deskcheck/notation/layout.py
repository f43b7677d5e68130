"""The layout of a program and a prompt for a model, the same in lessons and at inference.

    1|def f(n):                    the program, its lines numbered
    2|    return n + 1
                                   an empty line ends it
    f 2: n=4                       one step: a state in the notation `dynamic`,
    2|    return n + 1             the line of the program that it is at, once more,
    +1                             the number of events from the state to the answer; -1: the state before

    f(4)                           or a whole trace: the call (`calls.called`),
    compact                        and the notation of the answer

Every prompt ends with a newline, so that no tokenizer merges over its end. The repeated line is found by its
number in the state. It tells a model nothing new, but saves it a search through the program at every step.
"""

import re
from collections.abc import Sequence

from deskcheck.notation.calls import called
from deskcheck.notation.lines import LineReader
from deskcheck.notation.state import ENDS, Frame
from deskcheck.notation.values import Objects, Unread
from deskcheck.recording import Mode, Program
from deskcheck.recording.program import code_lines

STEPWISE = ("dynamic", "dynamic_instruction")
"""Notations in which a model is asked for one state after the other."""


def program_text(program: Program) -> str:
    """The text of the program before every prompt about it."""
    return numbered_text(program.code)


def numbered_text(code: str) -> str:
    """A program's text with numbered lines, and an empty line."""
    return "".join([f"{number}|{line}\n" for number, line in enumerate(code_lines(code), 1)]) + "\n"


def program_code(text: str) -> str:
    """The program in a text by `program_text`."""
    return "\n".join([line.partition("|")[2] for line in text.split("\n")])


def step_prompt(code: Sequence[str], state: str, jump: int = 1) -> str:
    """The prompt for the state `jump` events after a state (negative: before). code: the program's lines."""
    return state + step_question(code, current_line(state), jump)


def step_question(code: Sequence[str], line: int | None, jump: int = 1) -> str:
    """The text after a state in `step_prompt`. line: the `current_line` of the state."""
    again = f"{line}|{code[line - 1]}\n" if line is not None and 0 < line <= len(code) else ""
    return f"\n{again}{jump:+d}\n"


def asked_state(prompt: str) -> str | None:
    """The state in a prompt by `step_prompt`; None for any other prompt, such as of a question `step`."""
    question = _STEP_QUESTION.search(prompt)
    state = prompt[: question.start()] if question else None
    return None if state is None or "\n\n" in state else state


_STEP_QUESTION = re.compile(r"\n(?:[0-9]+\|[^\n]*\n)?[+-][0-9]+\n\Z")


def divided(text: str) -> tuple[str, str]:
    """The beginning of a prompt, which others may share, and the rest, both not empty.

    The first empty line ends the beginning. So it is the program, or the task of a question.
    """
    beginning, empty, rest = text.partition("\n\n")
    return (beginning + empty, rest) if beginning and rest else (text[:1] or "\n", text[1:] or "\n")


def trace_prompt(program: Program, notation: str) -> str:
    """The prompt for a program's whole trace, or its ending, in a notation."""
    run = called(program) if program.mode is Mode.CALL else program.mode.value
    return f"{run}\n{notation}\n"


def current_line(state: str) -> int | None:
    """The line of the program that continues after a state in the notation `dynamic`.

    This is the line of the event or, if the event ends its frame, of the caller. None at the end, in another
    file, and for a state that cannot be read.
    """
    lines = state.splitlines()
    if not lines:
        return None
    reader = LineReader(lines[-1], Objects())
    try:
        if reader.kind() in ENDS:
            if len(lines) < 2:
                return None
            reader = LineReader(lines[-2], Objects())
            if not reader.word("frame"):
                return None
        place = reader.place()
    except Unread:
        return None
    return place.line if isinstance(place, Frame) and place.file is None else None
