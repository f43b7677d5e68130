"""The trace of a failing run for a prompt: true, or predicted by the model."""

from deskcheck.notation import NOTATIONS
from deskcheck.notation.forms.explained import EXPLAINED
from deskcheck.notation.layout import numbered_text, trace_prompt
from deskcheck.notebook.state.views import estimate_tokens
from deskcheck.recording import Mode, Program, Recording
from deskcheck_methods.bench import Bench
from deskcheck_methods.visible import calls_in

LEFT_OUT = "[some lines are left out here]"


def call_in(test: str, entry: str) -> str | None:
    """The arguments of the first call of a function in a test, if they are all literals."""
    calls = calls_in(test, entry)
    return calls[0] if calls else None


def within(text: str, tokens: int) -> str:
    """A text cut to about this many tokens: its beginning and its end, which has twice as many."""
    if estimate_tokens(text) <= tokens:
        return text
    lines = text.split("\n")
    head: list[str] = []
    tail: list[str] = []
    budget = tokens - estimate_tokens(LEFT_OUT)
    for lines_kept, part, share in (
        (tail, reversed(lines), 2 * budget // 3),
        (head, iter(lines), budget // 3),
    ):
        for line in part:
            cost = estimate_tokens(line + "\n")
            if cost > share:
                break
            share -= cost
            lines_kept.append(line)
    return "\n".join([*head, LEFT_OUT, *reversed(tail)])


def text_of(recording: Recording, notation: str, tokens: int) -> str:
    """A recorded run in a notation, within a limit of tokens; empty if nothing was recorded."""
    if not recording.trace.rows:
        return ""
    return within(NOTATIONS[notation].render(recording), tokens)


async def true_trace(bench: Bench, code: str, test: str, notation: str, tokens: int) -> tuple[str, str]:
    """(call or test, its trace) of a visible test of a program.

    If the test's call has no events, this is the trace of the whole program with the test.
    """
    entry = bench.puzzle.entry_point
    call = call_in(test, entry) if entry is not None else None
    recording = await bench.recorded(code, call, test)
    if call is not None and not recording.trace.rows:
        call = None
        recording = await bench.recorded(code, None, test)
    ran = test if call is None else f"{entry}{call}"
    text = text_of(recording, notation, tokens)
    bench.note(f"true trace of {ran}"[:200], recording.run_result.detail, trace=text)
    return ran, text


async def predicted_trace(bench: Bench, code: str, test: str, notation: str, tokens: int) -> tuple[str, str]:
    """(call or test, its trace) by the model's prediction, without the sandbox."""
    entry = bench.puzzle.entry_point
    call = call_in(test, entry) if entry is not None else None
    code_with_setup = f"{bench.puzzle.setup}\n{code}" if bench.puzzle.setup else code
    if call is None:
        program = Program(id="attempt", code=f"{code_with_setup.rstrip()}\n{test}\n")
    else:
        program = Program(id="attempt", code=code_with_setup, mode=Mode.CALL, entry=entry, arguments=call)
    ran = test if call is None else f"{entry}{call}"
    completion = await bench.ask(_asked(program, notation), "predicted trace")
    text = within(completion.text.strip(), tokens)
    bench.note(f"predicted trace of {ran}"[:200], "", trace=text)
    return ran, text


def _asked(program: Program, notation: str) -> str:
    if notation in EXPLAINED and notation != "dynamic":  # that explains one step
        return EXPLAINED[notation] + numbered_text(program.code) + trace_prompt(program, notation)
    about = NOTATIONS[notation].about
    return (
        "Write down the run of a Python program, step by step: which lines run, in order, and what the "
        f"variables hold then ({about}).\n\n{numbered_text(program.code)}{trace_prompt(program, notation)}"
    )
