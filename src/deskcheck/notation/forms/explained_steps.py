"""What stands before the prompt for a step that is not the plain one of `explained`: several events on, or
back; by instructions; or with the answer as what comes next in a trace.

The examples are read from two runs that stand here as text, and written by the notations themselves.
"""

from collections.abc import Sequence
from functools import cache

from deskcheck.notation.forms.dynamic import parse_dynamic, state_text
from deskcheck.notation.forms.explained import EXPLAINED_PROGRAM, EXPLAINED_RUN, EXPLAINED_VALUES, STATES
from deskcheck.notation.forms.scratchpad import parse_scratchpad, told_after
from deskcheck.notation.layout import numbered_text, step_prompt
from deskcheck.notation.state import Moment

TOLD_AFTER = {"scratchpad": True, "compact": False}
"""Notations that tell a state after another one -> whether all of its frame is told."""
ANSWERS = ("dynamic", "scratchpad", "compact")
"""Notations that a state of an answer can be written in: each gives back the whole state."""

_ON = """\
Be Python's interpreter, several events at a time.
You see a program, its lines numbered, one state of its run, the line that goes on, and +N. Give the state N
events later, {form},
"""
_BACK = """\
Be Python's interpreter, running backwards.
You see how a program is run, the program, its lines numbered, one state of that run, the line that goes on
from it, and -N. Give the state N events before it, {form},
"""
_INSIDE = "between two lines of ```, and nothing else. How a state is written:\n"
_FORMS = {
    "dynamic": "whole",
    "scratchpad": "its frame whole, of all else what is other than in the one that you see",
    "compact": "by what is other than in the one that you see",
}
_WHICH = """\
- Wherever in this run the state occurs, the same one comes N events before. What the events between them
  overwrote stands nowhere in the state that you see: how the program is run tells it.
"""
_INSTRUCTIONS = """\
- After each line stands @ and the place of an instruction in the function's code, in bytes.
  `instruction f 7@6 'STORE_FAST k': n=1 | 4`: that instruction of f is about to run. It is an event like the
  others, and is named as `dis` names it. After `|` stands the whole value stack, its bottom first;
  `<unbound>` is an empty place on it. Which instructions there are, and where, is as in the version of
  Python that is told.
"""
_AFTER = """\
How you write yours, as if it came right after the one that you see:
- The frames that you see are still there, but not one that is left by a return, a yield or an unwind. What
  is otherwise stands on lines before the event's. `open 1`: only the outermost frame is still there.
  `frame f 9: n=2`: one more is, and waits for a call. `in 0: k=1`: what is other in the outermost frame,
  `in 1: k=1` in the next one. A frame that waits at another line than the one that you see, or than when it
  ran, is another one. `globals: total=3`: what is other in the module.
- The event's line has no function if its frame is there: `7: n=2`, `return 3: n=0 -> 5`. If it is not:
  `f 7: n=2`, `call add 1 from 9:12-24: n=0`.
- """
_FULL = "After the colon of the event's line: all variables of its frame.\n"
_CHANGED = """\
After the colon: only variables that are other than in the state that you see, or new; `del x` for one
  that is not there; an object with other content as `#1=[0, 1]`. `|` with nothing behind: no iterator.
"""

_INSTRUCTIONS_PROGRAM = """\
def double(n):
    return n + n


def f(n):
    k = double(n)
    return k
"""
_INSTRUCTIONS_PYTHON = "3.11"
_INSTRUCTIONS_RUN = """\
globals: double=#1=<function double>, def f
instruction f 6@20 'CALL 1': n=2 | <unbound>, #1, 2
globals: def double, def f
frame f 6@20: n=2
call double 1@0 from 6:8-17: n=2
globals: def double, def f
frame f 6@20: n=2
double 2@2 from 6:8-17: n=2
globals: def double, def f
frame f 6@20: n=2
instruction double 2@2 from 6:8-17 'LOAD_FAST n': n=2
globals: def double, def f
frame f 6@20: n=2
instruction double 2@4 from 6:8-17 'LOAD_FAST n': n=2 | 2
globals: def double, def f
frame f 6@20: n=2
instruction double 2@6 from 6:8-17 'BINARY_OP +': n=2 | 2, 2
globals: def double, def f
frame f 6@20: n=2
instruction double 2@10 from 6:8-17 'RETURN_VALUE': n=2 | 4
globals: def double, def f
frame f 6@20: n=2
return double 2@10 from 6:8-17: n=2 | 4 -> 4
globals: def double, def f
instruction f 6@30 'STORE_FAST k': n=2 | 4
globals: def double, def f
f 7@32: n=2, k=4"""
"""A part of the run of f(2) on that version."""

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
    """What a prompt says of the run, above the program. python: version; call: how it is run."""
    told = [f"Python: {python}"] if python else []
    return "\n".join([*told, *([f"How it is run: {call}"] if call else [])])


@cache
def explained_step(notation: str, *, instructions: bool, back: bool) -> str:
    """The words and three examples for steps of a kind, ended by an empty line. notation: of the answer, one
    of `ANSWERS`."""
    head = (_BACK if back else _ON).format(form=_FORMS[notation])
    words = [head, _INSIDE, STATES]
    words.append(EXPLAINED_VALUES)
    words += [_INSTRUCTIONS] * instructions + [_WHICH] * back
    if notation in TOLD_AFTER:
        words.append(_AFTER + (_FULL if TOLD_AFTER[notation] else _CHANGED))
    program = _INSTRUCTIONS_PROGRAM if instructions else EXPLAINED_PROGRAM
    run = run_text(
        python=_INSTRUCTIONS_PYTHON if instructions else None,
        call=f"f({2 if instructions else 1})" if back else None,
    )
    states = _states(instructions)
    shown = [
        _example(program.splitlines(), states[number], states[number + jump], jump, notation)
        for number, jump in _EXAMPLES[instructions, back]
    ]
    above = f"{run}\n\n" if run else ""
    text = "".join(words)
    return f"{text}\nThree examples.\n\n{above}{numbered_text(program)}{''.join(shown)}Now yours.\n\n"


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
        return parse_dynamic(_INSTRUCTIONS_RUN).moments
    return parse_scratchpad(EXPLAINED_RUN).moments


def _example(code: Sequence[str], known: Moment, moment: Moment, jump: int, notation: str) -> str:
    answer = answer_text(known, moment, notation)
    return f"{step_prompt(code, state_text(known), jump)}```\n{answer}\n```\n\n"
