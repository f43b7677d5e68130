"""Runs programs by a model in the sandbox for methods: by visible tests, on inputs, or under the tracer.

Its processes receive no hidden test, expected value or reference. Tests and inputs are in a different process
than the answer, like in scoring (`scoring.programs`).
"""

import json
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from deskcheck.ask.results.attempts import vote_of
from deskcheck.ask.scoring.judge import Judge, of_sandbox
from deskcheck.ask.scoring.programs import ONLY_REPORT, Tested, reports, run_tests
from deskcheck.ask.scoring.sandbox import LIMITS
from deskcheck.recording import Environment, Mode, Program, Recording, RunResult
from deskcheck.sandbox import Checked, Limits, Sandbox, Tracing
from deskcheck.tracer.call import traces_of
from deskcheck.tracer.limits import TraceLimits
from deskcheck_methods.visible import Puzzle

TRIED = replace(LIMITS, output_bytes=1 << 18)
"""Limits of an attempt. A program that needs more has not answered."""
TRACED = TraceLimits(events=5000, items=100, text_chars=1000, objects=2000)
TRACED_BYTES = 16 << 20
"""Limit for the events of a trace. Later events are left out."""
SHOWN_RESULT_CHARS = 2000
"""Limit for the text of a returned value in comparisons. Longer values also compare by their length."""

_RETURNS = """\
def _call_all(told, function):
    import itertools, json

    report = only_report()
    for arguments in told["inputs"]:
        try:
            value = eval("function" + arguments, {"function": function})
            if hasattr(value, "__next__"):  # it stays with the program: what it gives is compared
                value = ["iterator", *itertools.islice(value, 1000)]
            text = "a function" if callable(value) else repr(value)
            said = ["returned", text[: told["most"]], len(text)]
        except BaseException as error:  # what cannot be handed over, too
            said = ["raised", type(error).__name__, 0]
        report.write(json.dumps(said) + "\\n")
        report.flush()
"""


class CallResult(NamedTuple):
    """The result of a call."""

    how: str
    """``returned``, ``raised`` or ``ended``."""
    text: str
    """The value, the class of the exception, or the outcome of the process."""

    @property
    def vote(self) -> Hashable:
        """Equal for calls with the same value, or the same class of exception."""
        return self.how, vote_of(self.text)


class _Judge(Judge):
    def __init__(self, sandbox: Sandbox, limits: Limits) -> None:
        super().__init__(sandbox)
        self.limits = limits


class ProgramRunner:
    """Runs the attempts of a method. Threads may share it; no state remains between runs.

    limits: the limits of each run. All methods raise AnswerNotRun if the sandbox failed, which says nothing
    about the program.
    """

    def __init__(self, sandbox: Sandbox, limits: Limits = TRIED) -> None:
        self._sandbox = sandbox
        self._limits = limits
        self._judge = _Judge(sandbox, limits)

    def tested(self, puzzle: Puzzle, code: str, tests: Sequence[str]) -> Tested:
        """The result of visible tests of a program, which run in order in one namespace."""
        data: dict[str, Any] = {
            "entry_point": puzzle.entry_point,
            "setup": puzzle.setup,
            "driver": "",
            "test_setup": "",
            "tests": list(tests),
            "cases": [],
            "modules": list(puzzle.modules),
            "parts": {},
        }
        return run_tests(data, code, self._judge)

    def returned(self, puzzle: Puzzle, code: str, inputs: Sequence[str]) -> tuple[CallResult, ...]:
        """The results of a program's entry point, input by input.

        If the process ended, its outcome is the result of that input and all later ones.
        """
        entry = puzzle.entry_point
        assert entry is not None
        pieces = [puzzle.setup, code]
        program = "".join(f"exec(compile({text!r}, 'answer.py', 'exec'))\n" for text in pieces if text)
        inputs_json = json.dumps({"inputs": list(inputs), "most": SHOWN_RESULT_CHARS})
        check = f"{ONLY_REPORT}\n{_RETURNS}\n_call_all(__import__('json').loads({inputs_json!r}), {entry})\n"
        begin = '__name__ = "answer"\n'
        run_result, printed = self._judge.check(
            Checked(Program(id="attempt", code=begin + program), check, (entry,))
        )
        results = [
            CallResult(how, text if length <= len(text) else f"{length}:{text}")
            for how, text, length in reports(printed, 3)
        ]
        missing = len(inputs) - len(results)
        return (*results, *[CallResult("ended", run_result.outcome.value)] * missing)

    def printed(self, code: str) -> RunResult:
        """The end of a script, with its output."""
        return of_sandbox(self._sandbox.run_one(Program(id="attempt", code=code), limits=self._limits))

    def recorded(self, puzzle: Puzzle, code: str, call: str | None, test: str = "") -> Recording:
        """The recording of a call of the entry point, up to `TRACED` events.

        Without a call, it is the recording of the whole program, followed by a visible test.
        """
        code_with_setup = f"{puzzle.setup}\n{code}" if puzzle.setup else code
        if call is not None:
            program = Program(
                id=puzzle.id,
                code=code_with_setup,
                mode=Mode.CALL,
                filename="answer.py",
                entry=puzzle.entry_point,
                arguments=call,
            )
        else:
            program = Program(
                id=puzzle.id, code=f"{code_with_setup.rstrip()}\n{test}\n", filename="answer.py"
            )
        blocks: list[bytes] = []
        size = 0

        def keep(block: bytes) -> None:
            nonlocal size
            size += len(block)
            if size <= TRACED_BYTES:
                blocks.append(block)

        run_result = of_sandbox(
            self._sandbox.run_one(program, limits=self._limits, tracing=Tracing(keep, TRACED))
        )
        return Recording(
            program=program,
            run_result=run_result,
            environment=Environment.here(
                tracer=self._sandbox.tracer(None), hash_seed=self._sandbox.hash_seed, packages={}
            ),
            traces=traces_of(blocks, run_result.cut if size <= TRACED_BYTES else "bytes"),
        )
