"""Repairs an answer until it passes the visible tests.

Settings decide what the model sees of a failure: only the verdict, the true trace of the failing call, or a
trace that it predicts, in any notation. It may first explain its code (self-debugging, Chen et al. 2023,
arXiv:2304.05128) or name the kind of bug, and may see earlier attempts as a conversation (CREF). Traces as
comments on the source are those of NExT (Ni et al. 2024, arXiv:2404.14662).
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.scoring.programs import Tested
from deskcheck.ask.scoring.score import PROGRAM_FORMS
from deskcheck.fences import fenced, fenced_code, fenced_texts
from deskcheck.notation import NOTATIONS
from deskcheck.notation.layout import numbered_text
from deskcheck.recording import InputError
from deskcheck.settings import Setting
from deskcheck_methods.bench import Bench, Completion, Options, Turn, scaffold
from deskcheck_methods.traces import predicted_trace, true_trace
from deskcheck_methods.visible import asserts_in


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOptions(Options):
    """The parts of a failure that the model sees, and the form of the request."""

    rounds: Annotated[int, Setting("Limit for repairs.", min=0)] = 3
    trace: Annotated[
        Literal["none", "true", "predicted"],
        Setting("Trace of the failing call: none, a true one from the sandbox, or a model's prediction."),
    ] = "none"
    notation: Annotated[str, Setting("Notation of the trace: `deskcheck list notations`.")] = "inline"
    trace_tokens: Annotated[
        int, Setting("Approximate maximum of tokens of a trace. A longer one is cut in the middle.", min=20)
    ] = 2000
    start: Annotated[
        Literal["draft", "given"],
        Setting("Start from the model's own answer, or from the unchanged code of the task."),
    ] = "draft"
    tests: Annotated[
        Literal["visible", "written"],
        Setting("Tests: only those of the task, or also some that the model writes first."),
    ] = "visible"
    explain: Annotated[
        bool, Setting("Let the model explain its program line by line before it repairs it.")
    ] = False
    critique: Annotated[bool, Setting("Let the model first name the kind and the place of the bug.")] = False
    conversation: Annotated[bool, Setting("Keep earlier attempts in the prompt, as a conversation.")] = False


KINDS_OF_BUGS = (
    "a misunderstood task (a case that is missing, another result than is asked for), wrong logic (a "
    "condition, a loop, an order of steps, a computation), or wrong use of the language (a type, a name, an "
    "index, a function of a library)"
)
"""The kinds that a critique chooses from."""


@dataclass(slots=True)
class _Try:
    """An attempt."""

    code: str | None
    """None if the completion has no program."""
    reason: str = ""
    """The reason why there is no program."""
    completion: Completion | None = None
    """The completion with the program; None for the code of the task."""


@scaffold(
    "a program, repaired by visible tests, with a true or predicted trace", RepairOptions, forms=PROGRAM_FORMS
)
async def repair(bench: Bench, options: RepairOptions) -> None:
    """Answer, test, and repair failures for some rounds."""
    notation_of(options.notation)
    conversation = [Turn("user", bench.puzzle.prompt)]
    if options.start == "given" and bench.puzzle.code:
        last = _Try(bench.puzzle.code)
        bench.offer_code(bench.puzzle.code)
    else:
        last = await _answered(bench, conversation, "draft")
    tests = bench.puzzle.tests
    if options.tests == "written":
        tests = (*tests, *await written_tests(bench))
    best = -1
    for number in range(options.rounds + 1):
        tested = None
        if last.code is not None:
            if best < 0:
                _keep(bench, last)
            tested = await bench.test(last.code, f"round {number}", tests)
            passed = 0 if tested is None else tested.passed
            if passed > best or tested is None or tested.right:
                best = passed
                _keep(bench, last)
            if tested is None and not (options.explain or options.critique):
                bench.ended = "no visible test can be run, so nothing shows what to repair"
                return
            if tested is not None and tested.right:
                bench.ended = f"passes the visible tests after {number} repairs"
                return
        if number < options.rounds:
            feedback = await _feedback(bench, options, last, tested, tests)
            conversation = _continued(bench, options, conversation, last, feedback)
            last = await _answered(bench, conversation, f"repair {number + 1}")
    bench.ended = f"{options.rounds} repairs, and no program that passes the visible tests"


def _continued(
    bench: Bench, options: RepairOptions, conversation: list[Turn], last: _Try, feedback: str
) -> list[Turn]:
    """The next messages: a single prompt, or the conversation followed by the feedback."""
    if not options.conversation:
        return [Turn("user", f"{bench.puzzle.prompt}\n\n{feedback}")]
    fenced_program = fenced_code(last.code or "")
    attempt = f"{OPEN}\n{fenced_program}\n{CLOSE}" if last.completion is None else last.completion.text
    return [*conversation, Turn("assistant", attempt), Turn("user", feedback)]


async def _answered(bench: Bench, conversation: list[Turn], step: str) -> _Try:
    """The program of the model's next answer, or the reason why there is none.

    The first completion is offered as an answer even without a program.
    """
    completion = await bench.ask(conversation, step)
    program = bench.code_of(completion)
    if bench.answer is None:
        bench.offer(completion)
    return _Try(program.code, program.why_not, completion)


def _keep(bench: Bench, last: _Try) -> None:
    if last.completion is not None:
        bench.offer(last.completion)
    elif last.code is not None:
        bench.offer_code(last.code)


async def _feedback(
    bench: Bench,
    options: RepairOptions,
    last: _Try,
    tested: Tested | None,
    tests: tuple[str, ...],
) -> str:
    """The feedback on the last attempt."""
    code = last.code
    if code is None:
        return f"There was no program in your last answer: {last.reason}.\n{_ASK}"
    parts = [_program(bench, code, numbered=options.trace != "none")]
    if tested is None:
        parts.append("None of the tests can be shown.")
    else:
        test = tests[tested.failed or 0]
        parts.append(
            f"It passes {tested.passed} of {tested.of} tests that are shown. This one fails:\n"
            f"{fenced_code(test)}\nWhat came of it: {tested.reason}"
        )
        if options.trace != "none":
            find = true_trace if options.trace == "true" else predicted_trace
            ran, text = await find(bench, code, test, options.notation, options.trace_tokens)
            if text:
                parts.append(f"What happens when {ran} runs:\n{fenced(text)}")
    attempt = "\n\n".join(parts)
    if options.explain:
        completion = await bench.ask(
            f"{bench.puzzle.prompt}\n\n{attempt}\n\nExplain what the program does, line by line, and compare "
            "that with what it must do. Write no program yet.",
            "explanation",
        )
        attempt += f"\n\nAn explanation of it:\n{completion.text.strip()}"
    if options.critique:
        completion = await bench.ask(
            f"{bench.puzzle.prompt}\n\n{attempt}\n\nWhich kind of bug does it have: {KINDS_OF_BUGS}? Name "
            "the kind, the lines, and what must change, in a few sentences. Write no program yet.",
            "critique",
        )
        attempt += f"\n\nA critique of it:\n{completion.text.strip()}"
    return f"{attempt}\n\n{_ASK}"


_ASK = f"Give the whole program, repaired, between {OPEN} and {CLOSE}."


def _program(bench: Bench, code: str, *, numbered: bool) -> str:
    """The text of an attempt in a prompt.

    numbered: with the line numbers of its trace, and therefore also with the code that runs before it.
    """
    if not numbered:
        return f"Your program:\n{fenced_code(code)}"
    setup = bench.puzzle.setup
    code_with_setup = f"{setup}\n{code}" if setup else code
    before = ", below what the task runs before it" if setup else ""
    return f"Your program{before}, its lines numbered:\n{fenced(numbered_text(code_with_setup).rstrip())}"


async def written_tests(bench: Bench, step: str = "tests") -> tuple[str, ...]:
    """Asserts that the model writes for a task before it sees a program."""
    entry = bench.puzzle.entry_point
    if entry is None:
        return ()
    completion = await bench.ask(
        f"{bench.puzzle.prompt}\n\nWrite no program. Write up to five tests of it instead, each a line "
        f"`assert {entry}(...) == ...` with literals, in one code fence: usual cases and edge cases.",
        step,
    )
    return asserts_of(bench, completion)


def asserts_of(bench: Bench, completion: Completion) -> tuple[str, ...]:
    """The asserts in a completion that can run, without the visible tests."""
    entry = bench.puzzle.entry_point
    if entry is None:
        return ()
    text = completion.text
    if "```" in text:
        text = "".join(fenced_texts(text))
    lines = "\n".join(line.strip() for line in text.splitlines() if line.strip().startswith("assert "))
    tests = asserts_in(text, entry, bench.puzzle.setup) or asserts_in(lines, entry, bench.puzzle.setup)
    return tuple(test for test in tests if test not in bench.puzzle.tests)


def notation_of(name: str) -> None:
    """Raises InputError if a notation cannot write a trace by lines."""
    if name not in NOTATIONS:
        raise InputError(f"unknown notation {name!r}. The notations are {', '.join(NOTATIONS)}.")
    if NOTATIONS[name].instructions:
        raise InputError(
            f"{name} shows instructions, but attempts are recorded by line: choose another notation."
        )
