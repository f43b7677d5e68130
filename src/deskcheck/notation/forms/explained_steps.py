"""What stands before the prompt for a step that is not the plain one of `explained`: several events on, or
back; by instructions; or with the answer as what comes next in a trace.

The examples are read from two runs that stand here as text, and written by the notations themselves.
"""

from collections.abc import Sequence
from functools import cache

from deskcheck.notation.forms.dynamic import parse_dynamic, state_text
from deskcheck.notation.forms.explained import EXPLAINED_PROGRAM, TEXTS
from deskcheck.notation.forms.scratchpad import parse_scratchpad, told_after
from deskcheck.notation.layout import numbered_text, step_prompt
from deskcheck.notation.state import Moment

TOLD_AFTER = {"scratchpad": True, "compact": False}
"""Notations that write a state after another one -> whether all variables of its frame are written."""
ANSWERS = ("dynamic", "scratchpad", "compact")
"""Notations that a state of an answer can be written in: each gives back the whole state."""

_FORMS = {
    "dynamic": "whole",
    "scratchpad": "its frame whole, of all else what is other than in the one that you see",
    "compact": "by what is other than in the one that you see",
}
_INSTRUCTIONS_PYTHON = "3.11"
"""The version whose run by instruction is the example."""
_EXAMPLES = {
    (False, False): ((3, 2), (5, 3), (8, 1)),
    (False, True): ((6, -1), (8, -1), (4, -2)),
    (True, False): ((0, 1), (5, 2), (7, 2)),
    (True, True): ((6, -1), (8, -1), (9, -1)),
}
"""(By instructions, backwards) -> (number of a state, jump)."""


def answer_text(known: Moment, moment: Moment, notation: str) -> str:
    """A state as an answer has it, in one of `ANSWERS`, where another one is known."""
    if notation in TOLD_AFTER:
        return told_after(known, moment, full=TOLD_AFTER[notation])
    return state_text(moment)


def run_text(*, python: str | None, call: str | None) -> str:
    """The facts about the run above the program in a prompt. python: version; call: how it is run."""
    lines = [f"Python: {python}"] if python else []
    return "\n".join([*lines, *([f"How it is run: {call}"] if call else [])])


@cache
def explained_step(notation: str, *, instructions: bool, back: bool) -> str:
    """The words and three examples for steps of a kind, ended by an empty line. notation: of the answer, one
    of `ANSWERS`."""
    words = TEXTS["steps_back" if back else "steps_on"].format(form=_FORMS[notation])
    words += TEXTS["inside_fence"] + TEXTS["states"] + TEXTS["values"]
    if instructions:
        words += TEXTS["instructions"]
    if back:
        words += TEXTS["same_state"]
    if notation in TOLD_AFTER:
        words += TEXTS["after"] + TEXTS["after_full" if TOLD_AFTER[notation] else "after_changed"]
    program = TEXTS["instructions_program"] if instructions else EXPLAINED_PROGRAM
    run = run_text(
        python=_INSTRUCTIONS_PYTHON if instructions else None,
        call=f"f({2 if instructions else 1})" if back else None,
    )
    states = _states(instructions)
    examples = [
        _example(program.splitlines(), states[number], states[number + jump], jump, notation)
        for number, jump in _EXAMPLES[instructions, back]
    ]
    above = f"{run}\n\n" if run else ""
    return f"{words}\nThree examples.\n\n{above}{numbered_text(program)}{''.join(examples)}Now yours.\n\n"


def explained_in(prompt: str) -> str | None:
    """The notation of the answer that a prompt with such words wants; None for any other prompt."""
    for notation in ANSWERS:
        for instructions in (False, True):
            for back in (False, True):
                if prompt.startswith(explained_step(notation, instructions=instructions, back=back)):
                    return notation
    return None


def _states(instructions: bool) -> Sequence[Moment]:
    if instructions:
        return parse_dynamic(TEXTS["instructions_run"]).moments
    return parse_scratchpad(TEXTS["run"]).moments


def _example(code: Sequence[str], known: Moment, moment: Moment, jump: int, notation: str) -> str:
    answer = answer_text(known, moment, notation)
    return f"{step_prompt(code, state_text(known), jump)}```\n{answer}\n```\n\n"
