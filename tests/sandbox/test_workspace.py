"""Commands in a workspace: what they may, what they may not, and what is left when they end."""

import errno
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskcheck.errors import ServerLost
from deskcheck.recording import InputError, Outcome
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.process import Cancelled
from deskcheck.sandbox.workspace import Completed, Workspace
from tests.circumstances import let_all_read
from tests.sample import examples

LIMITS = Limits(cpu_s=10, wall_s=60, memory_bytes=1 << 30, processes=64, file_bytes=1 << 20)

# One workspace of each level serves the tests that a worker runs.


@pytest.fixture(scope="module", params=["strict", pytest.param("standard", marks=pytest.mark.slow)])
def workspace(request: pytest.FixtureRequest) -> Iterator[Workspace]:
    with Workspace(request.param, limits=LIMITS) as place:
        yield place


def python(workspace: Workspace, code: str, **how: object) -> Completed:
    return workspace.run(["python", "-c", code], **how)  # type: ignore[arg-type]


def test_python_is_the_interpreter_that_was_meant(workspace: Workspace) -> None:
    """Not another one that happens to lie on the path of the machine."""
    done = python(workspace, "import sys; print(sys.prefix, sys.version_info[:2])")
    assert done.stdout.decode() == f"{sys.prefix} {sys.version_info[:2]}\n"
    assert (done.outcome, done.status, done.stderr) == (Outcome.EXITED, 0, b"")


def test_a_command_has_its_folder_environment_and_input(workspace: Workspace) -> None:
    """Working folder, variables and standard input are as given; nothing of the caller's environment is there."""
    os.environ["A_SECRET"] = "of the caller"
    try:
        workspace.write("below/it.txt", b"found\n")
        command = ["sh", "-c", 'cat it.txt - ; echo "$GIVEN" "$A_SECRET" "$PYTHONHASHSEED"']
        done = workspace.run(command, cwd="below", env={"GIVEN": "a b"}, input=b"typed\n")
    finally:
        del os.environ["A_SECRET"]
    assert done.stdout == b"found\ntyped\na b  \n"


def test_files_stay_and_may_be_run(workspace: Workspace) -> None:
    """What one command writes another reads, and a script runs by its path."""
    workspace.write("step", b"#!/bin/sh\necho ran\n")
    if workspace.run(["chmod", "+x", "step"]).status:
        assert workspace.level == "standard"
        assert os.geteuid() != 0
        pytest.skip("standard without root denies chmod: would have proved that files can be made to run")
    assert workspace.run(["./step"]).stdout == b"ran\n"
    assert workspace.run(["sh", "-c", "./step > out; echo again >> out"]).status == 0
    assert workspace.read("out") == b"ran\nagain\n"


@settings(
    max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(contents=st.binary(max_size=4096), name=st.from_regex(r"[A-Za-z0-9 é~'\"$]{1,20}", fullmatch=True))
def test_a_file_comes_back_as_it_went(contents: bytes, name: str, workspace: Workspace) -> None:
    """Any bytes, under any name that a folder takes."""
    path = f"kept/{name}x"
    workspace.write(path, contents)
    assert workspace.read(path) == contents


@pytest.mark.slow
def test_no_process_outlives_its_command(workspace: Workspace) -> None:
    """What goes on in the background is ended with the command that started it."""
    workspace.run(["sh", "-c", "(sleep 1; echo late > late) & echo started"])
    assert workspace.run(["sh", "-c", "sleep 2; ls"]).stdout.count(b"late") == 0


def test_statuses_are_told(workspace: Workspace) -> None:
    """Exit status, signal, and what could not be started are different endings."""
    assert workspace.run(["sh", "-c", "exit 7"]).status == 7
    killed = workspace.run(["sh", "-c", "kill -9 $$"])
    assert (killed.outcome, killed.status) == (Outcome.KILLED, -9)
    with pytest.raises(FileNotFoundError):
        workspace.run(["no-such-command"])
    with pytest.raises(PermissionError):
        workspace.run(["/dev/null"])
    with pytest.raises(FileNotFoundError, match="nowhere"):
        workspace.run(["true"], cwd="nowhere")
    with pytest.raises(ValueError, match="an empty command"):
        workspace.run([])


@pytest.mark.parametrize(
    ("code", "outcome", "said"),
    [
        ("import time; time.sleep(60)", Outcome.TIMED_OUT, "1 s of wall time"),
        ("while True: print('x' * 1000)", Outcome.OUTPUT_LIMIT, "more than 100000 bytes"),
        ("import signal; signal.signal(15, signal.SIG_IGN)\nwhile True: pass", Outcome.TIMED_OUT, "s of"),
    ],
)
def test_a_limit_stops_a_command_and_not_the_workspace(
    code: str, outcome: Outcome, said: str, workspace: Workspace
) -> None:
    """The limit that was met is told, and files and workspace go on."""
    workspace.write("before", b"kept")
    wall_s = 1 if outcome is Outcome.TIMED_OUT else 60
    done = python(workspace, code, wall_s=wall_s, output_bytes=100_000)
    assert (done.outcome, said in done.detail) == (outcome, True), done.detail
    assert len(done.stdout) <= 100_000
    assert workspace.read("before") == b"kept"


def test_memory_is_bounded_with_that_of_children(workspace: Workspace) -> None:
    """One process, and several together that each stay below the limit."""
    one = python(workspace, "x = b'1' * (2 << 30)")
    assert one.status != 0
    assert b"MemoryError" in one.stderr
    many = python(
        workspace,
        "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        x = b'1' * (400 << 20); time.sleep(60)\n"
        "for _ in range(4): os.wait()\n",
    )
    # By our look at them, or by the kernel's, which ends one and leaves the others: either may come first.
    assert many.outcome is Outcome.OUT_OF_MEMORY, many


HOSTILE = {
    "reads another's files": "print(open({secret!r}).read())",
    "writes outside": "open({folder!r} + '/written', 'w')",
    "connects": "import socket; socket.create_connection(('127.0.0.1', {port}), 5)",
    "forks without end": "import os\nwhile True: os.fork()",
    "ends its server": "import os, signal; os.kill(os.getppid(), signal.SIGKILL); print('got it')",
    "sees other processes": "import os; os.kill({pid}, 0); print('got it')",
    "becomes root": "import os; os.setuid(0); print('got it')",
    "mounts": "import ctypes; print('got it' if ctypes.CDLL(None).mount(b'a', b'/tmp', b'tmpfs', 0, 0) == 0 else 1 / 0)",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_commands_are_stopped(name: str, workspace: Workspace, tmp_path: Path) -> None:
    """None gets what it wants, and the workspace serves the next command."""
    (tmp_path / "secret").write_text("got it")
    let_all_read(tmp_path)  # only the sandbox stands between
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = HOSTILE[name].format(
            secret=str(tmp_path / "secret"),
            folder=str(tmp_path),
            port=server.getsockname()[1],
            pid=os.getpid(),
        )
        done = python(workspace, code, wall_s=60)
    assert done.status != 0, done
    assert b"got it" not in done.stdout
    assert not (tmp_path / "written").exists()
    assert workspace.run(["echo", "alive"]).stdout == b"alive\n"


def test_a_link_leads_nobody_out(workspace: Workspace, tmp_path: Path) -> None:
    """We read and write with the rights of the workspace, so a link leads us no further than a command.

    At strict, a path outside may be made again inside, which changes nothing outside.
    """
    outside = tmp_path / "outside"
    outside.write_text("ours")
    workspace.run(["ln", "-s", str(outside), "link"])
    workspace.run(["ln", "-s", str(tmp_path), "way"])
    for path in ("link", "way/outside", str(outside)):
        with pytest.raises(OSError, match=r"Permission denied|No such file"):
            workspace.read(path)
    for path in ("link", "way/outside", str(outside)):
        try:
            workspace.write(path, b"theirs")
        except OSError as refused:
            assert refused.errno in (errno.EACCES, errno.ENOENT, errno.EEXIST, errno.EROFS)  # noqa: PT017
        assert outside.read_text() == "ours"


def test_a_pipe_or_device_is_no_file(workspace: Workspace) -> None:
    """Reading or writing a pipe that nobody serves is an error, and not a wait without end."""
    workspace.run(["mkfifo", "pipe"])
    with pytest.raises(OSError, match="not a regular file"):
        workspace.read("pipe")
    with pytest.raises(OSError) as refused:  # noqa: PT011 (told apart by its number)
        workspace.write("pipe", b"x")
    assert refused.value.errno in (errno.ENXIO, errno.EINVAL)
    with pytest.raises(IsADirectoryError):
        workspace.read(".")


def test_files_are_bounded(workspace: Workspace) -> None:
    """Too long to read is told from too long to write."""
    workspace.write("long", b"x" * 2000)
    with pytest.raises(OSError) as refused:  # noqa: PT011 (told apart by its number)
        workspace.read("long", most_bytes=1999)
    assert refused.value.errno == errno.EFBIG
    assert workspace.read("long", most_bytes=2000) == b"x" * 2000
    with pytest.raises(OSError) as refused:  # noqa: PT011 (told apart by its number)
        workspace.write("longer", b"x" * (LIMITS.file_bytes + 1))
    assert refused.value.errno == errno.EFBIG


def test_a_command_can_be_cancelled(workspace: Workspace) -> None:
    """The caller's wish ends it, and the next command runs."""
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    with pytest.raises(Cancelled):
        workspace.run(["sleep", "60"], cancelled=stop.is_set)
    assert workspace.run(["echo", "next"]).stdout == b"next\n"


def test_two_workspaces_see_nothing_of_each_other() -> None:
    """Files of one are not in the other, and are gone when it is closed."""
    with Workspace("standard") as one, Workspace("standard") as other:
        one.write("mine", b"mine")
        place = one.run(["pwd"]).stdout.decode().strip()
        assert other.run(["ls"]).stdout == b""
        with pytest.raises(PermissionError):
            other.read(f"{place}/mine")
    assert not os.path.exists(place)
    with pytest.raises(ServerLost, match="closed"):
        one.run(["true"])


def test_an_environment_that_is_not_built_is_an_error() -> None:
    """Before any command runs."""
    with pytest.raises(InputError, match="unknown environment 'no-such'"):
        Workspace(environment="no-such")
