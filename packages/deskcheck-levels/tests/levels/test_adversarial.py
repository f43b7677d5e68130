"""Programs written to break the machine of the level `processor`, by someone who had not seen its lessons.

Truth is this Python: what the program returns or raises, with the message, and what it prints, without any
tracer; and its line events with their variables, by the native tracer. A program comes to its right end, or is
refused with the reason that its file gives. `adversarial` holds those that were written by hand.
"""

import contextlib
import io
import platform
import random
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from deskcheck_levels.machine.frames import OutsideLanguage, ProgramRaised
from deskcheck_levels.machine.machine import Machine
from deskcheck_levels.machine.runs import run_recorded
from deskcheck_levels.paper.arithmetic import Arithmetic
from deskcheck_levels.paper.windows import all_windows
from tests.levels.loose_programs import LooseProgram

from deskcheck.recording import Environment, Mode, Outcome, Program, Recording, RunResult, Trace, render
from deskcheck.recording.block import rows
from deskcheck.tracer import Granularity, tracer_class

pytestmark = [  # what programs do that compilers warn of is what they are for
    pytest.mark.filterwarnings("ignore::SyntaxWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
FOLDER = Path(__file__).parent / "adversarial"
_CALL = "# call: f"
_OUTSIDE = re.compile("# outside: (.*)\n")
_ADDRESS = re.compile(" at 0x[0-9a-f]+")


def written() -> dict[str, Program]:
    """The programs of the folder, by file and number."""
    found = {}
    for file in sorted(FOLDER.glob("*.py")):
        for number, text in enumerate(file.read_text("utf-8").split(_CALL)[1:], 1):
            arguments, code = text.split("\n", 1)
            name = f"{file.stem}-{number}"
            found[name] = Program(id=name, code=code, entry="f", arguments=arguments, mode=Mode.CALL)
    return found


@dataclass(frozen=True)
class End:
    """How a run ended. told: the value as text, or the exception's class and message."""

    told: str
    printed: str


def true_run(program: Program) -> tuple[Recording, End]:
    """By this Python: without any tracer, then recorded by the native one."""
    tracer_type: Any = tracer_class()
    blocks: list[bytes] = []
    tracer = tracer_type({program.filename: program.filename}, blocks.append, granularity=Granularity.LINE)
    code = compile(program.code, program.filename, "exec", dont_inherit=True)
    call = compile(f"{program.entry}{program.arguments}", "call", "eval")
    outcome, raised, detail = Outcome.RETURNED, None, ""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(code, names)
        try:
            told = repr(eval(call, names))
        except Exception as error:  # noqa: BLE001 (the program's, whatever it is)
            told, outcome = repr(error), Outcome.RAISED
            raised, detail = type(error).__name__, f"{type(error).__name__}: {error}"
    with contextlib.redirect_stdout(io.StringIO()):
        names = {"__name__": "__main__"}
        exec(code, names)
        tracer.start()
        with contextlib.suppress(Exception):
            eval(call, names)
        tracer.stop()
    assert tracer.failure is None
    trace = Trace([row for block in blocks for row in rows(block)])
    result = None
    if outcome is Outcome.RETURNED:
        value = next(event.value for event in reversed(trace) if event.frame == 0 and event.kind == "return")
        assert value is not None
        result = render(value)
    run_result = RunResult(
        outcome=outcome,
        detail=detail,
        exception=raised,
        result=result,
        stdout=printed.getvalue(),
        cut=tracer.cut,
    )
    environment = Environment(
        python=platform.python_version(),
        implementation="cpython",
        platform=sys.platform,
        hash_seed=None,
        deskcheck="test",
        tracer=tracer.name,
        granularity=Granularity.LINE.value,
    )
    recording = Recording(program=program, run_result=run_result, environment=environment, traces=(trace,))
    return recording, End(_ADDRESS.sub("", told), printed.getvalue())


def machine_run(program: Program, arithmetic: Arithmetic) -> End:
    """Raises OutsideLanguage."""
    machine = Machine(arithmetic)
    try:
        told = repr(machine.call_program(program.code, "f", program.arguments or "()"))
    except ProgramRaised as raised:
        told = repr(raised.error)
    return End(_ADDRESS.sub("", told), "".join(machine.output))


def refusal(program: Program, arithmetic: Arithmetic) -> str | None:
    """Why a program is refused; None for one that comes to its right end, which is asserted."""
    recording, end = true_run(program)
    try:
        mine = machine_run(program, arithmetic)
    except OutsideLanguage as error:
        return str(error)
    assert mine == end, program.code
    run = run_recorded(recording, lambda line: Machine(arithmetic, line=line))
    assert (run.first, run.outside, run.right) == (None, None, True), program.code
    assert run.agreement.exact == sum(event.kind == "line" for event in recording.trace) + 1
    return None


@pytest.fixture(scope="module")
def arithmetic() -> Arithmetic:
    return Arithmetic(all_windows().__getitem__)


PROGRAMS = written()
_SOME = list(PROGRAMS)[::9]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in _SOME else pytest.mark.slow) for name in PROGRAMS]
)
def test_written_to_break_it(name: str, arithmetic: Arithmetic) -> None:
    program = PROGRAMS[name]
    expected = _OUTSIDE.match(program.code)
    assert refusal(program, arithmetic) == (expected and expected[1])


def test_most_are_inside() -> None:
    outside = sum(_OUTSIDE.match(program.code) is not None for program in PROGRAMS.values())
    assert len(PROGRAMS) - outside >= 300


@pytest.mark.parametrize(
    ("first", "count"),
    [(0, 40), pytest.param(10_000, 1_200, marks=pytest.mark.exhaustive)],
    ids=["some", "many"],
)
def test_drawn_without_types(first: int, count: int, arithmetic: Arithmetic) -> None:
    """Most of what these do to a value is odd: operands of two kinds, arguments that do not fit."""
    refused = 0
    for seed in range(first, first + count):
        code = LooseProgram(random.Random(seed)).text()
        program = Program(id=str(seed), code=code, entry="f", arguments="()", mode=Mode.CALL)
        refused += refusal(program, arithmetic) is not None
    assert refused < 0.08 * count
