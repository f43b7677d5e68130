"""What a program's processes use is counted, whatever they do to be left out, with control groups and without."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskcheck.recorder.programs import ProgramRecorder
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.recording.recording import RunResult
from deskcheck.sandbox import Limits, Sandbox
from deskcheck.sandbox.limits import WALL_TIMES
from deskcheck.sandbox.linux import cgroup
from deskcheck.sandbox.server import NOT_COUNTED
from tests.circumstances import as_nobody
from tests.sandbox.processes import search_path

LIMITS = Limits(cpu_s=0.4, wall_s=30, memory_bytes=1 << 30)
IGNORED = """
import os, signal, time

def ignore():
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    except OSError:
        pass

def burn(seconds):
    while time.process_time() < seconds:
        pass

def child(do):
    # Returns when it has ended, without waiting for it.
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            do()
        finally:
            os._exit(0)
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
"""


@pytest.fixture(params=["as it is", "no groups"])
def groups(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[bool]:
    """With the control groups that can be made here, and without any; whether one counts CPU time."""
    if request.param == "no groups":
        without_groups(monkeypatch)
        yield False
        return
    try:
        yield cgroup.CPU in cgroup.places()
    except cgroup.Unavailable:
        pytest.skip("no control groups: would have proved the same with them")


def without_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> dict[str, cgroup.ControlGroupPlace]:
        raise cgroup.Unavailable("none, for this test")

    monkeypatch.setattr(cgroup, "places", none)


def ran(code: str, level: str, limits: Limits = LIMITS) -> RunResult:
    with Sandbox(level, workers=1, limits=limits) as sandbox:
        return sandbox.run_one(Program(id="p", code=code))


@pytest.mark.parametrize("level", ["strict", pytest.param("standard", marks=pytest.mark.slow)])
def test_children_that_nobody_waits_for_are_counted(level: str, groups: bool) -> None:
    """Children that end between two looks, of a parent that ignores their end, use up the program's time."""
    code = IGNORED + "ignore()\nfor _ in range(200):\n    child(lambda: burn(0.02))\n"
    run_result = ran(code, level)
    assert run_result.outcome is Outcome.TIMED_OUT, run_result
    assert "CPU time" in run_result.detail
    assert run_result.cpu_s is not None
    assert run_result.cpu_s > 0.38


@pytest.mark.parametrize(
    "level", ["strict", *(pytest.param(each, marks=pytest.mark.slow) for each in ("standard", "trusted"))]
)
def test_the_time_of_all_processes_is_told(level: str, groups: bool) -> None:
    """What a child's child used, which lost its parent, is in the time of the program."""
    code = IGNORED + "child(lambda: os.fork() or burn(0.15))\n"
    run_result = ran(code, level)
    assert run_result.outcome is Outcome.RETURNED, run_result
    assert run_result.cpu_s is not None
    assert 0.15 <= run_result.cpu_s < 0.4


@pytest.mark.parametrize("level", ["strict", pytest.param("standard", marks=pytest.mark.slow)])
def test_children_of_threads_are_counted(level: str, groups: bool) -> None:
    """What a thread forked is seen while it runs, before anybody waits for it."""
    code = IGNORED + (
        "import threading\n"
        "def several():\n"
        "    started = [os.fork() or (burn(0.35), os._exit(0)) for _ in range(4)]\n"
        "    for each in started:\n"
        "        os.waitpid(each, 0)\n"
        "thread = threading.Thread(target=several)\nthread.start()\nthread.join()\n"
    )
    run_result = ran(code, level)
    assert run_result.outcome is Outcome.TIMED_OUT, run_result
    assert run_result.cpu_s is not None
    assert run_result.cpu_s < 1.4  # it was stopped, and not after it had been waited for


def test_wall_time_has_an_end() -> None:
    """Processes of its own that keep a program from a processor give it no more than three times its time."""
    code = IGNORED + (
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "for _ in range(12):\n"
        "    if os.fork() == 0:\n"
        "        burn(60)\n"
        "        os._exit(0)\n"
        "burn(60)\n"
    )
    run_result = ran(code, "strict", Limits(cpu_s=60, wall_s=0.5))
    assert run_result.outcome is Outcome.TIMED_OUT, run_result
    assert f"{WALL_TIMES} times" in run_result.detail
    assert run_result.wall_s is not None
    assert run_result.wall_s >= WALL_TIMES * 0.5


def test_a_session_has_an_end_too(groups: bool) -> None:
    """So it is with a piece of a session, and its children count."""
    code = IGNORED + "ignore()\nfor _ in range(200):\n    child(lambda: burn(0.02))\n"
    with Sandbox(workers=1, limits=LIMITS) as sandbox, sandbox.session() as session:
        piece = session.run(code)
    assert piece.outcome is Outcome.TIMED_OUT
    assert piece.run_result.cpu_s is not None
    assert piece.run_result.cpu_s > 0.38


TRIED = """
import ctypes, resource, signal, socket, struct

def tried(name, do):
    try:
        do()
    except (OSError, ValueError):
        print(name)

one, _ = socket.socketpair()
libc = ctypes.CDLL(None, use_errno=True)
tried("ignore", lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
tried("other", lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN))
tried("send", lambda: one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20))
tried("receive", lambda: one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20))
tried("credentials", lambda: one.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1))
tried("mark", lambda: resource.setrlimit(10, (1, 1)))
tried("prlimit", lambda: resource.prlimit(0, 10, (1, 1)))
tried("ask", lambda: resource.getrlimit(10))
tried("stack", lambda: resource.setrlimit(resource.RLIMIT_STACK, (1 << 22, 1 << 22)))
if libc.syscall(SETRLIMIT, 10, struct.pack("QQ", 1, 1)):
    print("call")
""".replace("SETRLIMIT", "160" if os.uname().machine == "x86_64" else "164")


@pytest.mark.parametrize("level", ["strict", "standard"])
def test_what_would_take_it_out_of_an_account_is_refused(level: str, groups: bool) -> None:
    """The mark, the size of sockets; SIGCHLD where no group counts CPU time. What lies beside them is not."""
    refused = ["send", "receive", "mark", "prlimit", "call"]
    assert ran(TRIED, level).stdout.split() == ([] if groups else ["ignore"]) + refused


SOCKETS = """
import os, socket, time
pairs = [socket.socketpair() for _ in range(110)]
if os.fork() == 0:
    more = [socket.socketpair() for _ in range(10)]
    time.sleep(60)
time.sleep(60)
"""


def test_what_sockets_can_hold_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """240 sockets can hold more than 48 MiB: too much beside a limit of so much memory, once for each."""
    without_groups(monkeypatch)
    most = 48 << 20
    run_result = ran(SOCKETS, "strict", Limits(cpu_s=10, wall_s=60, memory_bytes=most))
    assert run_result.outcome is Outcome.OUT_OF_MEMORY, run_result
    assert str(most) in run_result.detail
    run_result = ran(
        SOCKETS.replace("60", "0.4"), "strict", Limits(cpu_s=10, wall_s=60, memory_bytes=4 * most)
    )
    assert run_result.outcome is Outcome.RETURNED, run_result


def test_a_recording_says_what_counted(groups: bool) -> None:
    """The environment of a recording names the group, or in words what stood for it."""
    with ProgramRecorder(RecordSettings(), workers=1) as recorder:
        accounts = recorder.environment(Program(id="p", code=""), {}).accounts
    assert list(accounts) == list(cgroup.COUNTED)
    for what, said in accounts.items():
        assert said == NOT_COUNTED[what] or said.startswith("control group, version ")
    assert accounts[cgroup.CPU].startswith("control group") is groups


@pytest.mark.slow
@pytest.mark.parametrize("level", ["strict", "standard"])
def test_an_ordinary_user_is_counted(level: str, tmp_path: Path) -> None:
    """The same for a caller who is nobody, with whatever control groups there are for that user."""
    if os.geteuid() != 0:
        pytest.skip("not root: the other tests prove it for this user")
    code = IGNORED + "ignore()\nfor _ in range(200):\n    child(lambda: burn(0.02))\n"
    caller = (
        "import json, sys\nfrom deskcheck.recording.program import Program\n"
        "from deskcheck.sandbox import Limits, Sandbox\n"
        "with Sandbox(sys.argv[1], workers=1, limits=Limits(cpu_s=1, wall_s=30, processes=4096)) as sandbox:\n"
        "    ending = sandbox.run_one(Program(id='p', code=sys.argv[2]))\n"
        "print(json.dumps([str(ending.outcome), ending.detail, ending.cpu_s]))\n"
    )
    done = subprocess.run(
        [*as_nobody(), "-c", caller, level, code],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": search_path(installed=False),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        cwd="/",
        stdout=subprocess.PIPE,
        check=True,
    )
    outcome, detail, cpu_s = json.loads(done.stdout)
    assert outcome == Outcome.TIMED_OUT, detail
    assert "CPU time" in detail
    assert cpu_s > 0.95
