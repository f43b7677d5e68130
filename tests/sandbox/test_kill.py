"""`kill -9` at random moments: no result is lost that was given out, none is wrong, nothing is left running."""

import ctypes
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.sandbox import Sandbox
from tests.attacks.stage import parent_of, processes

LEVELS = ("strict", "standard")
_SUBREAPER = 36
_GONE_S = 20.0
CALLER = """
import sys
from deskcheck.recording.program import Program
from deskcheck.sandbox import Sandbox

programs = (Program(id=str(n), code=f"print({n} * {n})") for n in range(100_000))
with Sandbox(level=sys.argv[1], workers=2) as sandbox:
    for result in sandbox.run(programs):
        print(result.program.id, result.ending.outcome, result.ending.stdout.strip(), flush=True)
"""


def children() -> set[int]:
    return {pid for pid in processes() if parent_of(pid) == os.getpid()}


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """What the test starts is gone after it, also what had lost its parent: this process adopts that."""
    libc = ctypes.CDLL(None)
    assert libc.prctl(_SUBREAPER, 1, 0, 0, 0) == 0
    before = children()
    try:
        yield
        end = time.monotonic() + _GONE_S
        while left := children() - before:
            for pid in left:
                os.waitpid(pid, os.WNOHANG)
            assert time.monotonic() < end, [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in left]
            time.sleep(0.02)
    finally:
        libc.prctl(_SUBREAPER, 0, 0, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_servers_are_killed(level: str, nothing_left: None) -> None:
    """With its servers killed 50 times, a sandbox gives a result for every program, and each is right."""
    choose = random.Random(11)
    before = children()
    over = threading.Event()
    killed: list[float] = []

    def kill() -> None:
        while len(killed) < 50 and not over.wait(choose.uniform(0.0, 0.2)):
            servers = sorted(children() - before)
            if servers:
                os.kill(choose.choice(servers), signal.SIGKILL)
                killed.append(time.monotonic())

    def programs() -> Iterator[Program]:
        n = 0
        while len(killed) < 50:
            yield Program(id=str(n), code=f"import time\ntime.sleep(0.01)\nprint({n} * {n})")
            n += 1

    thread = threading.Thread(target=kill)
    # More tries than kills: what is killed again and again is no failure of the program's.
    with Sandbox(level=level, workers=2, tries=60) as sandbox:
        thread.start()
        try:
            results = list(sandbox.run(programs()))
        finally:
            over.set()
            thread.join()
    assert [result.program.id for result in results] == [str(n) for n in range(len(results))]
    for result in results:
        assert result.ending.outcome is Outcome.RETURNED, result
        assert result.ending.stdout == f"{int(result.program.id) ** 2}\n"
    assert any(result.attempts > 1 for result in results), "no kill met a run"


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_the_caller_is_killed(level: str, nothing_left: None) -> None:
    """A caller killed at 25 moments leaves no process; what it had given out was whole and right."""
    choose = random.Random(12)
    for wait_for in [0, *(choose.randrange(60) for _ in range(24))]:
        with subprocess.Popen(
            [sys.executable, "-c", CALLER, level],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        ) as caller:
            assert caller.stdout is not None
            lines = [caller.stdout.readline() for _ in range(wait_for)]
            time.sleep(choose.uniform(0.0, 0.05))
            caller.kill()
            lines += caller.stdout.readlines()
        assert len(lines) >= wait_for
        for n, line in enumerate(lines):
            assert line == f"{n} returned {n * n}\n"
