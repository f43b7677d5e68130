"""An answer that is repaired until it passes the visible tests.

What the model is shown of a failure is a setting: the verdict alone, the true trace of the failing call, or a
trace that it predicts itself, in any notation. So are an explanation of its own code (self-debugging, Chen et
al. 2023, arXiv:2304.05128), a critique by kinds of bug, and a conversation that goes on (CREF); traces as
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
    """What is shown of a failure, and how it is talked about."""

    rounds: Annotated[int, Setting("Repairs, at most.", min=0)] = 3
    trace: Annotated[
        Literal["none", "true", "predicted"],
        Setting("Of the failing call: none, the true one from the sandbox, or one that the model predicts."),
    ] = "none"
    notation: Annotated[str, Setting("That of the trace: `deskcheck list notations`.")] = "inline"
    trace_tokens: Annotated[
        int, Setting("Of a trace, about; its beginning and its end are kept.", min=20)
    ] = 2000
    start: Annotated[
        Literal["draft", "given"],
        Setting("From the model's own answer, or from the code of the task, as it stands."),
    ] = "draft"
    tests: Annotated[
        Literal["visible", "written"],
        Setting("Tests: those of the task, or with them some that the model writes first."),
    ] = "visible"
    explain: Annotated[
        bool, Setting("The model explains its program, line by line, before it repairs it.")
    ] = False
    critique: Annotated[bool, Setting("The model names the kind of bug, and where it is, first.")] = False
    conversation: Annotated[bool, Setting("Earlier attempts stay in the prompt, as a conversation.")] = False


KINDS_OF_BUGS = (
    "a misunderstood task (a case that is missing, another result than is asked for), wrong logic (a "
    "condition, a loop, an order of steps, a computation), or wrong use of the language (a type, a name, an "
    "index, a function of a library)"
)
"""What a critique chooses from: kinds in words of our own."""


@dataclass(slots=True)
class _Try:
    """An attempt. said: the completion that it stands in; None for the code that was given. code: None where
    there is no program, and why."""

    code: str | None
    why: str = ""
    said: Completion | None = None


@scaffold(
    "a program, repaired by visible tests, with a true or predicted trace", RepairOptions, forms=PROGRAM_FORMS
)
async def repair(bench: Bench, options: RepairOptions) -> None:
    """Answer, test, and repair what fails, so many rounds."""
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
                bench.ended = "no visible test can be run, so that nothing says what to repair"
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
    """What is put next: one prompt with all that matters, or the conversation and what is new."""
    if not options.conversation:
        return [Turn("user", f"{bench.puzzle.prompt}\n\n{feedback}")]
    fenced_program = fenced_code(last.code or "")
    attempt = f"{OPEN}\n{fenced_program}\n{CLOSE}" if last.said is None else last.said.text
    return [*conversation, Turn("assistant", attempt), Turn("user", feedback)]


async def _answered(bench: Bench, conversation: list[Turn], step: str) -> _Try:
    """The program of the model's next answer, or why there is none. It is the answer where there is none
    before it."""
    completion = await bench.ask(conversation, step)
    program = bench.code_of(completion)
    if bench.answer is None:
        bench.offer(completion)
    return _Try(program.code, program.why_not, completion)


def _keep(bench: Bench, last: _Try) -> None:
    if last.said is not None:
        bench.offer(last.said)
    elif last.code is not None:
        bench.offer_code(last.code)


async def _feedback(
    bench: Bench,
    options: RepairOptions,
    last: _Try,
    tested: Tested | None,
    tests: tuple[str, ...],
) -> str:
    """What the model is told of its last attempt."""
    code = last.code
    if code is None:
        return f"There was no program in your last answer: {last.why}.\n{_ASK}"
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
    """An attempt as a prompt shows it. numbered: with the numbers that its trace tells, so that what runs
    before it stands there, too."""
    if not numbered:
        return f"Your program:\n{fenced_code(code)}"
    setup = bench.puzzle.setup
    code_with_setup = f"{setup}\n{code}" if setup else code
    before = ", below what the task runs before it" if setup else ""
    return f"Your program{before}, its lines numbered:\n{fenced(numbered_text(code_with_setup).rstrip())}"


async def written_tests(bench: Bench, step: str = "tests") -> tuple[str, ...]:
    """Asserts that the model writes for a task before it has seen any program."""
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
    """The asserts in a completion that can be run; visible tests are not among them again."""
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
    """Raises InputError where a trace by lines cannot be written in a notation."""
    if name not in NOTATIONS:
        raise InputError(f"there is no notation {name!r}. Known are {', '.join(NOTATIONS)}.")
    if NOTATIONS[name].instructions:
        raise InputError(f"{name} shows instructions, and attempts are recorded by line: choose another.")
