"""The model writes a program whose output is the answer: PAL (Gao et al. 2022, arXiv:2211.10435).

For a question about a run, the program may run the code of the question. The score then measures observation
instead of prediction.
"""

from dataclasses import dataclass
from typing import Annotated

from deskcheck.ask.answers.code import code_said
from deskcheck.ask.answers.parsing import CLOSE, OPEN, answer_in
from deskcheck.ask.scoring.score import PROGRAM_FORMS
from deskcheck.fences import fenced_code
from deskcheck.recording import Outcome
from deskcheck.settings import Setting
from deskcheck_methods.bench import Bench, Completion, Options, scaffold


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOfThoughtOptions(Options):
    """tries: limit for the programs until one prints something."""

    tries: Annotated[
        int, Setting("Maximum number of programs until one succeeds and prints something.", min=1)
    ] = 2


@scaffold(
    "a program that prints the answer, run in the sandbox", ProgramOfThoughtOptions, not_forms=PROGRAM_FORMS
)
async def program_of_thought(bench: Bench, options: ProgramOfThoughtOptions) -> None:
    """Ask for a program that prints the answer, and run it."""
    request = (
        f"{bench.puzzle.prompt}\n\nDo not give the answer yourself. Write a Python program that works it "
        "out and prints it, in the form that is asked for and nothing else, in one code fence. It has the "
        f"standard library, no network and no input. Write the program where the answer would stand: "
        f"between {OPEN} and {CLOSE}."
    )
    prompt = request
    for number in range(1, options.tries + 1):
        completion = await bench.ask(prompt, f"program {number}")
        if bench.answer is None:
            none = "No program printed an answer." if completion.text.strip() else ""
            bench.offer(Completion(text=none, stop_reason=completion.stop_reason))
        program = code_said(completion.text, None, complete=completion.whole)
        if program.code is None:
            prompt = f"{request}\n\nYour last answer held no program: {program.why_not}."
            continue
        run_result = await bench.printed(program.code, f"run {number}")
        printed = run_result.stdout.strip()
        exited = run_result.outcome is Outcome.EXITED and run_result.exit_status == 0
        ended = run_result.outcome is Outcome.RETURNED or exited
        if ended and printed and run_result.cut is None:
            bench.offer(Completion(text=f"{OPEN}{answer_in(printed) or printed}{CLOSE}", stop_reason="stop"))
            bench.ended = f"program {number} printed an answer"
            return
        reason = run_result.detail or ("printed nothing" if ended else run_result.outcome.value)
        prompt = f"{request}\n\nThis program does not do it ({reason:.500}):\n{fenced_code(program.code)}"
    bench.ended = "no program printed an answer"
