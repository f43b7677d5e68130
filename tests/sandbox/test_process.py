"""One program in a process of its own: every ending happens for real, and none can be forged."""

import gc
import json
import os
import secrets
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from deskcheck.errors import SandboxError
from deskcheck.recording import block
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Mode, Program
from deskcheck.recording.recording import RunResult
from deskcheck.sandbox import Confinement, Limits, Tracing, run
from tests.sandbox.processes import children, running

LIMITS = Limits(cpu_s=1, wall_s=60, memory_bytes=1 << 30, output_bytes=100_000)
"""CPU time decides, also where many others want the processor."""


def module(code: str, **options: object) -> RunResult:
    return run(Program(id="p", code=code), limits=LIMITS, **options)  # type: ignore[arg-type]


def call(code: str, arguments: str = "()") -> RunResult:
    program = Program(id="p", code=code, mode=Mode.CALL, entry="f", arguments=arguments)
    return run(program, limits=LIMITS)


@pytest.mark.parametrize(
    ("code", "outcome", "said"),
    [
        ("x = 1", Outcome.RETURNED, ""),
        ("1 / 0", Outcome.RAISED, "ZeroDivisionError: division by zero"),
        ("raise KeyError('k')", Outcome.RAISED, "KeyError: 'k'"),
        ("import sys; sys.exit(3)", Outcome.EXITED, "SystemExit: 3"),
        ("import os; os._exit(0)", Outcome.EXITED, "status 0"),
        ("while True: pass", Outcome.TIMED_OUT, "CPU time"),
        pytest.param(
            "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
            Outcome.TIMED_OUT,
            "",
            marks=pytest.mark.slow,
        ),
        (
            "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
            Outcome.TIMED_OUT,
            "",
        ),
        ("x = [0] * (1 << 34)", Outcome.OUT_OF_MEMORY, "MemoryError"),
        ("while True: print('x' * 1000)", Outcome.OUTPUT_LIMIT, "100000 bytes"),
        ("import sys\nwhile True: sys.stderr.write('x' * 1000)", Outcome.OUTPUT_LIMIT, "100000 bytes"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", Outcome.KILLED, "SIGTERM"),
        ("import ctypes; ctypes.string_at(0)", Outcome.KILLED, "SIGSEGV"),
        ("import os; os.killpg(0, 9)", Outcome.KILLED, "SIGKILL"),
        ("def f(:\n", Outcome.RAISED, "SyntaxError"),
    ],
)
def test_every_ending_is_told_apart(code: str, outcome: Outcome, said: str) -> None:
    """Each way a program can end has its own outcome, with what happened in the detail."""
    run_result = module(code)
    assert run_result.outcome is outcome
    assert said in run_result.detail


def test_time_on_the_clock_has_a_limit() -> None:
    """A program that does nothing for too long is stopped, too."""
    run_result = run(Program(id="p", code="import time; time.sleep(60)"), limits=replace(LIMITS, wall_s=1))
    assert run_result.outcome is Outcome.TIMED_OUT
    assert "wall time" in run_result.detail


@pytest.mark.parametrize(("beyond", "outcome"), [(0, Outcome.RETURNED), (1, Outcome.OUTPUT_LIMIT)])
def test_both_streams_share_one_limit(beyond: int, outcome: Outcome) -> None:
    """Bytes of standard output and error together: as many as the limit are let through, one more is not."""
    half = LIMITS.output_bytes // 2
    run_result = module(
        f"import sys\nsys.stdout.write('a' * {half})\nsys.stderr.write('b' * {half + beyond})"
    )
    assert run_result.outcome is outcome


FORGED = json.dumps({"outcome": "returned", "result": "42", "result_builtin": True, "cpu_s": 0})


@pytest.mark.parametrize(
    "attack",
    [
        f"print('end ' + {FORGED!r}, flush=True); os._exit(0)",
        f"print({FORGED!r}); sys.exit(0)",
        f"[os.write(fd, b'end ' + {FORGED!r}.encode()) for fd in open_descriptors()]; os._exit(0)",
        "[os.write(fd, b'\\0\\0\\0\\5' + b'x' * 16 + b'ready') for fd in open_descriptors()]; os._exit(0)",
        "[os.close(fd) for fd in open_descriptors()]; os._exit(0)",
        "sys.exit(0)",
        "raise SystemExit(None)",
        "os.kill(os.getppid(), 0); os._exit(0)",
        "os.fork() or os._exit(0); os._exit(0)",
    ],
)
def test_a_verdict_cannot_be_forged(attack: str) -> None:
    """A call that prints, exits or writes what a right answer would never counts as returned."""
    code = (
        "import os, sys\n"
        "def open_descriptors():\n"
        "    return [int(fd) for fd in os.listdir('/proc/self/fd') if int(fd) > 2]\n"
        "def f():\n"
        "    try:\n"
        f"        {attack}\n"
        "    except OSError:\n"
        "        os._exit(0)\n"
        "    os._exit(0)\n"
    )
    run_result = call(code)
    assert run_result.outcome in (Outcome.EXITED, Outcome.KILLED)
    assert run_result.result is None


def test_the_result_is_the_value_and_not_its_repr() -> None:
    """An object that calls itself 42 is not 42, and its __repr__ does not run."""
    code = "class Liar:\n    def __repr__(self):\n        print('ran')\n        return '42'\ndef f():\n    return Liar()\n"
    run_result = call(code)
    assert run_result.outcome is Outcome.RETURNED
    assert run_result.result != "42"
    assert not run_result.result_builtin
    assert run_result.stdout == ""


def test_nothing_of_ours_is_in_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in the caller's environment cannot be read from the program."""
    monkeypatch.setenv("SECRET_API_KEY", "hunter2")
    run_result = module("import os; print(sorted(os.environ), os.environ.get('SECRET_API_KEY'))")
    assert "hunter2" not in run_result.stdout
    assert "SECRET_API_KEY" not in run_result.stdout


@pytest.mark.parametrize("confinement", Confinement)
def test_what_it_leaves_behind_goes(confinement: Confinement) -> None:
    """A child, and one that left its session, are gone when the run is over; so is the scratch directory."""
    name = f"left-{secrets.token_hex(4)}"
    run_result = module(
        "import ctypes, os, time\nprint(os.getcwd(), flush=True)\nopen('mine', 'w').close()\n"
        f"ctypes.CDLL(None).prctl(15, b'{name}', 0, 0, 0)\n"
        "if os.fork() == 0:\n    time.sleep(30)\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork():\n        os._exit(0)\n    time.sleep(30)\n"
        "time.sleep(0.2)\nprint('done')\n",
        confinement=confinement,
    )
    scratch, done = run_result.stdout.split()
    assert done == "done"
    assert confinement is Confinement.STRICT or not Path(scratch).exists()
    assert running(name) == []


def test_a_killed_program_keeps_its_events() -> None:
    """What was recorded before the process was killed has been received."""
    blocks: list[bytes] = []
    run_result = module("import os\na = 1\nb = 2\nos.kill(os.getpid(), 9)\n", tracing=Tracing(blocks.append))
    assert run_result.outcome is Outcome.KILLED
    assert run_result.cut == "ended"
    assert [row.line for each in blocks for row in block.rows(each)] == [1, 1, 2, 3, 4]


@pytest.mark.slow
def test_many_runs_leave_nothing_open() -> None:
    """Thirty runs, some of them killed, leave no descriptor and no child of ours."""
    module("x = 1")
    gc.collect()  # what other tests left open is not to be closed meanwhile
    before = len(os.listdir("/proc/self/fd"))
    others = children()  # other tests', such as multiprocessing's own, which stays
    for number in range(30):
        module("x = 1" if number % 3 else "import os; os.kill(os.getpid(), 9)")
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before
    assert children() <= others


def test_an_interpreter_that_is_not_there_is_our_error() -> None:
    """A process that cannot be started says nothing about the program."""
    with pytest.raises(SandboxError, match="no-such-python"):
        module("x = 1", python="/no-such-python")


def test_an_interpreter_is_found_where_we_find_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its name, on our PATH: the process itself is given another."""
    python = tmp_path / "a-python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert module("x = 1", python="a-python").outcome is Outcome.RETURNED
