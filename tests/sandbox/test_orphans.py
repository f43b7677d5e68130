"""What has lost its server and its caller is ended by the next start, and nothing else is."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from deskcheck.recording.program import Program
from deskcheck.sandbox import Sandbox
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.linux import orphans
from deskcheck.sandbox.server import Profile, Server
from tests.circumstances import as_nobody
from tests.sandbox.processes import GONE_S, adopting, children, in_new_interpreter, search_path

CALLER = """
import sys
from deskcheck.recording.program import Program
from deskcheck.sandbox import Limits, Sandbox
from deskcheck.sandbox.linux import cgroup as _cgroup

def none():
    raise _cgroup.Unavailable("none, for this test")

_cgroup.places = none
with Sandbox(sys.argv[1], workers=1, limits=Limits(cpu_s=50, wall_s=900, processes=4096)) as sandbox:
    print(sandbox._servers.idle[0].process.pid, sandbox._servers.idle[0].mark, flush=True)
    sandbox.run_one(Program(id="p", code=sys.argv[2]))
"""
ORPHAN = """
import ctypes, os, time
ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # it does not end with its parent
if os.fork() == 0:
    os.closerange(0, 4096)
    os.setsid()
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # nor can it be looked into
time.sleep(600)
"""


@pytest.fixture
def adopted() -> Iterator[None]:
    """What loses its parent is this process's child while the test runs, and is ended after it."""
    with adopting() as before:
        yield
        end = time.monotonic() + GONE_S
        while (left := children() - before) and time.monotonic() < end:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def carriers(mark: int) -> set[int]:
    return orphans._carriers().get(mark, set())


def wait_for(count: int, mark: int) -> set[int]:
    """The processes that carry a mark, once there are so many."""
    end = time.monotonic() + GONE_S
    while len(found := carriers(mark)) != count:
        assert time.monotonic() < end, found
        time.sleep(0.01)
    return found


def begun(level: str, user: str) -> "tuple[subprocess.Popen[str], int, int]":
    """A caller whose program has left a child; its server, and the mark."""
    command = as_nobody() if user == "nobody" else [sys.executable]
    caller = subprocess.Popen(
        [*command, "-c", CALLER, level, ORPHAN],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": search_path(installed=False),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert caller.stdout is not None
    server, mark = map(int, caller.stdout.readline().split())
    wait_for(3 if level == "trusted" else 4, mark)  # one more answers for the filter
    return caller, server, mark


@pytest.mark.parametrize(
    ("level", "user"),
    [
        pytest.param("standard", "nobody", marks=[] if os.geteuid() == 0 else pytest.mark.skip("not root")),
        ("trusted", "this"),
        pytest.param("standard", "this", marks=pytest.mark.slow),
        pytest.param("strict", "this", marks=pytest.mark.slow),
    ],
)
def test_what_lost_its_server_is_ended(level: str, user: str, adopted: None) -> None:
    """A caller and its server are killed together: what the program started goes with the next start. What
    has its server stays, and so does this process."""
    with Sandbox("trusted", workers=1) as other:
        other.run_one(Program(id="p", code=""))
        (alive,) = other._servers.idle
        caller, server, mark = begun(level, user)
        with caller:
            os.kill(caller.pid, signal.SIGSTOP)  # it shall not be told of its server's end
            os.kill(server, signal.SIGKILL)
            caller.kill()
        os.waitpid(server, 0)
        if level == "strict":
            wait_for(0, mark)  # they went with their namespace
        else:
            orphans.sweep()  # if no other process that starts a sandbox has done it by now
        assert not carriers(mark)
        assert carriers(alive.mark) == {alive.process.pid}
        assert other.run_one(Program(id="q", code="print(1)")).stdout == "1\n"


def test_what_a_killed_server_leaves_ends_with_its_server(adopted: None) -> None:
    """A server is killed and its caller goes on: once it has closed the server, nothing of it is left."""
    server = Server(Profile(level=Confinement.TRUSTED))
    server.wait_until_ready()
    helper = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import resource, time; resource.setrlimit(10, ({server.mark},) * 2); print(flush=True); time.sleep(600)",
        ],
        stdout=subprocess.PIPE,
    )  # as the child of a program would
    with helper:
        assert helper.stdout is not None
        helper.stdout.readline()
        assert carriers(server.mark) == {server.process.pid, helper.pid}
        orphans.sweep()
        assert helper.poll() is None
        os.kill(server.process.pid, signal.SIGKILL)
        server.close()
        assert helper.wait(GONE_S) == -signal.SIGKILL


def test_a_mark_is_read_as_it_was_made() -> None:
    """A mark names its server; a limit of another kind is none."""
    mark = orphans.new_mark(4_194_303)
    code = (
        "import resource, sys; from deskcheck.sandbox.linux import orphans; print(orphans.mark_of('self')); "
        "resource.setrlimit(10, (5000, 5000)) if sys.argv[1] == '0' else orphans.carry(int(sys.argv[1])); "
        "print(orphans.mark_of('self'))"
    )
    for given, seen in ((str(mark), str(mark)), ("0", "None")):
        assert in_new_interpreter(code, given).stdout.split() == ["None", seen]
