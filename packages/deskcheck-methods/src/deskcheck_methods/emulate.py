"""The model writes a program for the kind of question once, and then is the machine that runs it.

With `pseudocode` it is Think-and-Execute (arXiv:2404.02575), with `python`, whose leaf functions stay
undefined, CoGEX (arXiv:2405.16337) without its search for the best program. No interpreter runs anything.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.samples.prompts import YOURS
from deskcheck.ask.scoring.score import PROGRAM_FORMS
from deskcheck.settings import Setting
from deskcheck_methods.bench import Bench, Options, scaffold


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulateOptions(Options):
    """form: the form of the program that is written and then simulated."""

    form: Annotated[
        Literal["pseudocode", "python"],
        Setting("Steps in words, or Python whose functions need no body."),
    ] = "pseudocode"


FORMS = {
    "pseudocode": "in pseudocode, a step a line, with loops and conditions",
    "python": "as a Python function; functions that it calls may be left undefined where their names and "
    "docstrings say what they give",
}


@scaffold(
    "a program for the kind of question, written once and simulated", EmulateOptions, not_forms=PROGRAM_FORMS
)
async def emulate(bench: Bench, options: EmulateOptions) -> None:
    """Simulate the program for the kind of question on this question."""
    kind = bench.puzzle.prompt.partition(YOURS)[0].strip()
    request = (
        f"Questions of one kind will be put to you. This is what all of them begin with:\n\n{kind}\n\nThink "
        f"about what must be done for any such question. Write that down {FORMS[options.form]}, so that "
        "whoever simulates it by hand comes to the answer: it keeps track of every value that matters and "
        "prints it after each step. Answer no question yet. Write it in one code fence."
    )

    async def written() -> str:
        return (await bench.ask(request, "program for all questions")).text

    program = await bench.once(f"emulate:{options.form}:{request}", written)
    bench.note("program for all questions", "shared by the questions of this kind", trace=program.strip())
    completion = await bench.ask(
        f"{bench.puzzle.prompt}\n\nSimulate this on the question above, step by step. Write what it prints "
        f"as it goes, and at the end the answer between {OPEN} and {CLOSE}, once:\n\n{program.strip()}",
        "simulation",
    )
    bench.offer(completion)
