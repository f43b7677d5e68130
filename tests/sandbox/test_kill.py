"""`kill -9` at random moments: no result is lost that was given out, none is wrong, nothing is left running."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskcheck.errors import ServerLost
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.sandbox import Sandbox
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.server import Profile, Server
from tests.attacks.stage import parent_of, processes
from tests.sandbox.processes import GONE_S, adopting, children

LEVELS = ("strict", "standard")


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """What the test starts is gone after it, also what had lost its parent: this process adopts that."""
    with adopting() as before:
        yield
        end = time.monotonic() + GONE_S
        while left := children() - before:
            for pid in left:
                os.waitpid(pid, os.WNOHANG)
            assert time.monotonic() < end, [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in left]
            time.sleep(0.02)


def moments(some: int, every: int) -> list[Any]:
    """How many moments to kill at: some for `make test-all`, every one for `make exhaustive`."""
    return [pytest.param(some, marks=pytest.mark.slow), pytest.param(every, marks=pytest.mark.exhaustive)]


@pytest.mark.parametrize("kills", moments(15, 50))
@pytest.mark.parametrize("level", LEVELS)
def test_servers_are_killed(level: str, kills: int, nothing_left: None) -> None:
    """With its servers killed so often, a sandbox gives a result for every program, and each is right."""
    choose = random.Random(11)
    before = children()
    over = threading.Event()
    killed: list[float] = []

    def kill() -> None:
        while len(killed) < kills and not over.wait(choose.uniform(0.0, 0.2)):
            servers = sorted(children() - before)
            if servers:
                with contextlib.suppress(ProcessLookupError):  # it has ended, and the sandbox has seen it
                    os.kill(choose.choice(servers), signal.SIGKILL)
                    killed.append(time.monotonic())

    def programs() -> Iterator[Program]:
        n = 0
        while thread.is_alive():
            yield Program(id=str(n), code=f"import time\ntime.sleep(0.01)\nprint({n} * {n})")
            n += 1

    thread = threading.Thread(target=kill)
    # More tries than kills: what is killed again and again is no failure of the program's.
    sandbox = Sandbox(level=level, workers=2)
    sandbox.tries = 60
    begun = 0
    take = sandbox._take

    def counting(profile: Profile) -> Server:
        nonlocal begun
        begun += 1
        return take(profile)

    with sandbox:
        sandbox._take = counting  # type: ignore[method-assign]
        thread.start()
        try:
            results = list(sandbox.run(programs()))
        finally:
            over.set()
            thread.join()
    assert len(killed) == kills
    assert [result.program.id for result in results] == [str(n) for n in range(len(results))]
    for result in results:
        assert result.run_result.outcome is Outcome.RETURNED, result
        assert result.run_result.stdout == f"{int(result.program.id) ** 2}\n"
    assert begun > len(results), "no kill met a run"


@pytest.mark.parametrize("starts", moments(60, 600))
@pytest.mark.parametrize("level", LEVELS)
def test_a_server_is_killed_as_it_starts(level: str, starts: int, nothing_left: None) -> None:
    """A server killed at any moment of its start is called lost: that says nothing of what the level needs."""
    profile = Profile(level=Confinement(level))
    begun = time.monotonic()
    server = Server(profile)
    server.wait_until_ready()
    takes_s = time.monotonic() - begun
    server.close()
    lost = 0
    for n in range(starts):
        server = Server(profile)
        time.sleep(takes_s * n / starts)
        server.process.kill()
        try:
            server.wait_until_ready()
        except ServerLost:
            lost += 1
        else:
            server.close()
    assert lost > starts // 3


MIXED = """
import os, sys
from deskcheck.recording.program import Program
from deskcheck.sandbox import Sandbox

level, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
code = "import time; time.sleep(0.005); print({n} * {n})"
programs = (Program(id=str(n), code=code.format(n=n)) for n in range(first, last))
Sandbox.tries = 60
with Sandbox(level=level, workers=2) as sandbox:
    print("ready", flush=True)
    for result in sandbox.run(programs):
        # In one piece, whatever the environment says of buffers: this process may be killed at any moment.
        line = f"{result.program.id} {result.run_result.outcome} {result.run_result.stdout.strip()}\\n"
        os.write(1, line.encode())
"""
_LAST = 1_000_000
VICTIMS = {"server": 4, "program": 4, "caller": 1, "caller and servers": 1}
"""Who is killed, and how often beside the others."""


def below(pid: int) -> dict[int, int]:
    """Processes below one, each with how deep it lies."""
    found = {pid: 0}
    while more := {
        each: found[parent] + 1
        for each in processes()
        if each not in found and (parent := parent_of(each)) in found
    }:
        found |= more
    del found[pid]
    return found


@pytest.mark.parametrize("wanted", moments(20, 100))
@pytest.mark.parametrize("level", LEVELS)
def test_everybody_is_killed(level: str, wanted: int, tmp_path: Path, nothing_left: None) -> None:
    """Kills of servers, programs, callers and callers with their servers: results that were given out go on
    without a gap, each right or its program's own kill, and no process and no file is left."""
    choose = random.Random(13)
    tmp_path.chmod(0o755)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    program_depth = 3  # the outer part of a server, which answers for the filter, lies between
    lines: list[str] = []
    kills: Counter[str] = Counter()
    workers_killed = 0

    def enough() -> bool:
        assert kills.total() < 20 * wanted, f"of {[*VICTIMS]} only {[*kills]} were ever met"
        return kills.total() >= wanted and len(kills) == len(VICTIMS)

    while not enough():
        with subprocess.Popen(
            [sys.executable, "-c", MIXED, level, str(len(lines)), str(_LAST)],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
            env=environment,
        ) as caller:
            assert caller.stdout is not None
            taken: list[str] = []
            reader = threading.Thread(target=lambda out=caller.stdout, to=taken: to.extend(out))
            reader.start()
            # Most callers get to their programs; some are killed while their servers still start.
            patient = choose.random() < 0.9
            while patient and len(taken) < 2 and caller.poll() is None:
                time.sleep(0.05)
            alive = True
            while alive and not enough():
                time.sleep(choose.uniform(0.0, 0.3))
                assert caller.poll() is None, "the caller ended by itself"
                tree = below(caller.pid)
                servers = [pid for pid, depth in tree.items() if depth < program_depth]
                programs = [pid for pid, depth in tree.items() if depth == program_depth]
                (victim,) = choose.choices([*VICTIMS], weights=[*VICTIMS.values()])
                whom = {
                    "server": servers and [choose.choice(servers)],
                    "program": programs and [choose.choice(programs)],
                    "caller": [caller.pid],
                    "caller and servers": [*servers, caller.pid],
                }[victim]
                for pid in whom:
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        continue  # it has ended meanwhile
                if whom:
                    kills[victim] += 1
                alive = "caller" not in victim
            caller.kill()
            reader.join()
        lines += [line for line in taken if line != "ready\n"]
    for n, line in enumerate(lines):
        if line == f"{n} killed\n" or line.startswith(f"{n} killed "):
            workers_killed += 1
        else:
            assert line == f"{n} returned {n * n}\n"
    assert workers_killed <= kills["program"]
    code = (
        "import sys; from deskcheck.sandbox import Sandbox\nwith Sandbox(level=sys.argv[1], workers=1): pass"
    )
    end = time.monotonic() + GONE_S
    while list(tmp_path.iterdir()) and time.monotonic() < end:  # servers that were left may still be ending
        subprocess.run([sys.executable, "-c", code, level], env=environment, check=True)
    assert list(tmp_path.iterdir()) == []
