"""Explanations of steps that differ from the plain step of `explained`.

They go several events forward or back, are steps of instructions, or have the next part of a trace as the
answer. The notations write the examples, from two runs that are texts in this file.
"""

from collections.abc import Sequence
from functools import cache

from deskcheck.notation.forms.dynamic import parse_dynamic, state_text
from deskcheck.notation.forms.explained import EXPLAINED_PROGRAM, TEXTS
from deskcheck.notation.forms.scratchpad import parse_scratchpad, told_after
from deskcheck.notation.layout import numbered_text, step_prompt
from deskcheck.notation.state import Moment

TOLD_AFTER = {"scratchpad": True, "compact": False}
"""Whether all variables of the frame are written, for notations that write a state after an earlier one."""
ANSWERS = ("dynamic", "scratchpad", "compact")
"""Notations for a state of an answer. Each allows to read the whole state back."""

_FORMS = {
    "dynamic": "whole",
    "scratchpad": "its frame whole, of all else what is other than in the one that you see",
    "compact": "by what is other than in the one that you see",
}
_INSTRUCTIONS_PYTHON = "3.11"
"""The version of Python of the example run by instruction."""
_EXAMPLES = {
    (False, False): ((3, 2), (5, 3), (8, 1)),
    (False, True): ((6, -1), (8, -1), (4, -2)),
    (True, False): ((0, 1), (5, 2), (7, 2)),
    (True, True): ((6, -1), (8, -1), (9, -1)),
}
"""(By instructions, backwards) -> (number of a state, jump)."""


def answer_text(before: Moment, moment: Moment, notation: str) -> str:
    """A state as an answer, in one of `ANSWERS`, given the state before."""
    if notation in TOLD_AFTER:
        return told_after(before, moment, full=TOLD_AFTER[notation])
    return state_text(moment)


def run_text(*, python: str | None, call: str | None) -> str:
    """The facts about the run above the program in a prompt. python: its version. call: how it is run."""
    lines = [f"Python: {python}"] if python else []
    return "\n".join([*lines, *([f"How it is run: {call}"] if call else [])])


@cache
def explained_step(notation: str, *, instructions: bool, back: bool) -> str:
    """The explanation of a kind of steps with three examples, and an empty line.

    notation: the notation of the answer, one of `ANSWERS`.
    """
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
    """The notation of the answer to a prompt with such an explanation; None for any other prompt."""
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


def _example(code: Sequence[str], before: Moment, moment: Moment, jump: int, notation: str) -> str:
    answer = answer_text(before, moment, notation)
    return f"{step_prompt(code, state_text(before), jump)}```\n{answer}\n```\n\n"
