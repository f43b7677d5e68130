"""Control groups bound what processes use together, where this machine lets us make them."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.sandbox import Limits, Sandbox
from deskcheck.sandbox.checked import Checked
from deskcheck.sandbox.layers import layers
from deskcheck.sandbox.linux import cgroup as _cgroup
from deskcheck.sandbox.server import NOT_COUNTED
from tests.sandbox.processes import in_new_interpreter

FILL = """
import os, sys, time
sys.stdin.readline()
for _ in range(4):
    if os.fork() == 0:
        kept = bytearray(100 << 20)
        for at in range(0, len(kept), 4096):
            kept[at] = 1
        time.sleep(60)
while True:
    os.wait()
"""
FORK = """
import os, sys, time
sys.stdin.readline()
for number in range(20):
    try:
        child = os.fork()
    except BlockingIOError:
        print(number)
        break
    if child == 0:
        time.sleep(60)
        os._exit(0)
"""


@pytest.fixture
def proves(request: pytest.FixtureRequest) -> None:
    try:
        _cgroup.places()
    except _cgroup.Unavailable as error:
        pytest.skip(f"{error}: would have proved: {request.function.__doc__}")


def begun(code: str, group: _cgroup.ControlGroup) -> "subprocess.Popen[str]":
    """A process in the group that waits for a line and then runs."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    group.add(process.pid)
    return process


def test_memory_is_counted_together(proves: None) -> None:
    """The kernel kills where processes fill more together than the group has, and the group says so."""
    group = _cgroup.ControlGroup()
    group.limit(64 << 20, 20, 0)
    with begun(FILL, group) as process:
        assert process.stdin is not None
        print(file=process.stdin, flush=True)
        until = time.monotonic() + 60
        while not group.kills():
            assert time.monotonic() < until, "four times 100 MiB fit into 192 MiB"
            time.sleep(0.05)
        group.close()
        assert process.wait(20) == -9
    assert not any(Path(folder).exists() for folder in group.folders.values())


def test_processes_are_counted_together(proves: None) -> None:
    """No more processes than the group has can be forked, and all of them end with it."""
    group = _cgroup.ControlGroup()
    group.limit(256 << 20, 5, 0)
    with begun(FORK, group) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        print(file=process.stdin, flush=True)
        assert process.stdout.readline() == "6\n"  # 5, two that a server has, and itself among them
        group.close()
        process.wait(20)
    assert not any(Path(folder).exists() for folder in group.folders.values())


@pytest.mark.parametrize("level", ["strict", "standard", "trusted"])
def test_a_server_has_a_group(level: str, proves: None) -> None:
    """A server and its programs are in a group of theirs, a program is preferred where memory ends, and the group
    goes with the server."""
    code = "print(open('/proc/self/oom_score_adj').read(), end='')"
    with Sandbox(level=level, workers=1) as sandbox:
        run_result = sandbox.run_one(Program(id="p", code=code))
        (server,) = sandbox._servers.idle
        assert server.group is not None
        folders = set(server.group.folders.values())
        for folder in folders:
            assert str(server.process.pid) in Path(folder, "cgroup.procs").read_text().split()
    assert not any(Path(folder).exists() for folder in folders)
    if level != "standard":  # there, /proc cannot be read
        assert run_result.stdout == "1000\n", run_result


def test_a_process_that_is_killed_for_memory_is_out_of_memory(proves: None) -> None:
    """A program that the kernel kills for its group's memory is out of memory, not killed; files in memory count."""
    code = """
import os
for name in range(200):
    with open(str(name), "wb") as stream:
        stream.write(bytes(1 << 20))
kept = bytearray(200 << 20)
for at in range(0, len(kept), 4096):
    kept[at] = 1
"""
    limits = Limits(memory_bytes=1 << 30)
    with Sandbox(level="strict", workers=1, limits=limits) as sandbox:
        (server,) = [sandbox._take(sandbox._profile(None, 0))]
        assert server.group is not None
        sandbox._servers.give(server)
        server.group.limit = lambda *wanted: None  # type: ignore[method-assign]
        Path(server.group.limit_file(_cgroup.MEMORY)).write_text(str(300 << 20))
        run_result = sandbox.run_one(Program(id="p", code=code))
        assert run_result.outcome is Outcome.OUT_OF_MEMORY, run_result
        assert "more than 1073741824 bytes" in run_result.detail
        after = sandbox.run_one(Program(id="q", code="import os; os.kill(os.getpid(), 9)"))
        assert after.outcome is Outcome.KILLED, "what one program did is told of the next"


def test_a_machine_without_memory_is_not_a_program_beyond_its_limit(
    proves: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the kernel kills a program and its group has not met its limit, the detail says so. A group around
    it, which has less memory than it may have, stands for the machine."""
    where = dict(_cgroup.places())
    if _cgroup.MEMORY not in where or where[_cgroup.MEMORY].version != 1:
        pytest.skip("no group around another: would have proved what is said where a machine has no memory")
    around = Path(tempfile.mkdtemp(prefix="deskcheck-test-", dir=where[_cgroup.MEMORY].folder))
    try:
        Path(around, "memory.limit_in_bytes").write_text(str(300 << 20))
        where[_cgroup.MEMORY] = _cgroup.ControlGroupPlace(1, str(around))
        monkeypatch.setattr(_cgroup, "places", lambda: where)
        code = "kept = bytearray(500 << 20)\nfor at in range(0, len(kept), 4096):\n    kept[at] = 1\n"
        with Sandbox(level="strict", workers=1, limits=Limits(memory_bytes=1 << 30)) as sandbox:
            run_result = sandbox.run_one(Program(id="p", code=code))
    finally:
        around.rmdir()
    assert run_result.outcome is Outcome.OUT_OF_MEMORY, run_result
    assert "the machine had no memory left" in run_result.detail


WAITS = """
import os, time
def f():
    if os.fork() == 0:
        kept = bytearray(400 << 20)
        for at in range(0, len(kept), 4096):
            kept[at] = 1
    time.sleep(100)
"""


@pytest.mark.parametrize("way", ["run_one", "run", "check_one", "session"])
def test_nobody_waits_for_a_child_that_was_killed_for_memory(way: str, proves: None) -> None:
    """Where the kernel ends a child and the program waits for it, the run ends at once, however it was asked for."""
    with Sandbox(level="strict", workers=1, limits=Limits(memory_bytes=1 << 30, wall_s=40)) as sandbox:
        server = sandbox._take(sandbox._profile(None, 0))
        assert server.group is not None
        sandbox._servers.give(server)
        server.group.limit = lambda *wanted: None  # type: ignore[method-assign]
        Path(server.group.limit_file(_cgroup.MEMORY)).write_text(str(300 << 20))
        program = Program(id="p", code=f"{WAITS}\nf()")
        if way == "run_one":
            run_result = sandbox.run_one(program)
        elif way == "run":
            (run_result,) = (result.run_result for result in sandbox.run([program]))
        elif way == "session":
            with sandbox.session() as session:
                session.snapshot()
                run_result = session.run(f"{WAITS}\nf()").run_result
                again = session.run("import os\nif os.fork() == 0: os.kill(os.getpid(), 9)\nos.wait()")
                assert again.run_result.outcome is Outcome.RETURNED, "what one piece did is told of the next"
        else:
            run_result = sandbox.check_one(Checked(Program(id="p", code=WAITS), "assert f() is None", ("f",)))
    assert (run_result.outcome, "kernel" in run_result.detail) == (Outcome.OUT_OF_MEMORY, True), run_result
    assert run_result.wall_s is not None
    assert run_result.wall_s < 20


def test_groups_that_nobody_holds_are_swept(proves: None) -> None:
    """A group whose caller was killed is ended and removed by the next; one in use stays."""
    held = _cgroup.ControlGroup()
    code = (
        "import os, sys, time; from deskcheck.sandbox.linux import cgroup as _cgroup; group = _cgroup.ControlGroup(); "
        "print(*group.folders.values(), flush=True); os.kill(os.getpid(), 9)"
    )
    folders = in_new_interpreter(code, check=False).stdout.split()
    assert len(folders) == len(held.folders)
    until = time.monotonic() + 60
    while any(Path(folder).exists() for folder in folders):  # a group is left alone in its first seconds
        _cgroup.sweep()
        assert time.monotonic() < until
        time.sleep(0.2)
    assert all(Path(folder).exists() for folder in held.folders.values())
    held.close()


def test_it_is_said_whether_there_are_groups() -> None:
    """`layers` names the control groups, and what it means that there are none."""
    (layer,) = (layer for layer in layers() if layer.name == "control groups")
    try:
        group = _cgroup.ControlGroup()
        counted = set(group.folders)
        group.close()
    except _cgroup.Unavailable:
        counted = set()
    assert layer.works is (counted == set(_cgroup.COUNTED))
    for what, otherwise in NOT_COUNTED.items():
        assert (otherwise in layer.missing) is (what not in counted)


def tree(top: Path, groups: dict[str, dict[str, str]]) -> None:
    """Folders with the files of groups of version 2, as far as they are read."""
    for name, files in groups.items():
        folder = top / name
        folder.mkdir(exist_ok=True)
        for file, text in {
            "cgroup.procs": "",
            "cgroup.controllers": "",
            "cgroup.subtree_control": "",
            **files,
        }.items():
            (folder / file).write_text(text)


BOTH = "cpuset cpu io memory pids\n"


@pytest.mark.parametrize(
    ("bounds", "given", "where"),
    [
        ({}, BOTH, "a/service"),
        ({"memory.max": "max\n", "memory.high": "max\n", "cpu.max": "max 100000\n"}, BOTH, "a/service"),
        ({"memory.max": "1048576\n"}, BOTH, None),
        ({"memory.high": "1048576\n"}, BOTH, None),
        ({"cpu.max": "50000 100000\n"}, BOTH, None),
        ({}, "cpu pids\n", None),
    ],
)
def test_where_groups_of_version_2_are_made(
    bounds: dict[str, str], given: str, where: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above our own group, where its children are counted and it has no bound; else below it, where CPU time is."""
    monkeypatch.setattr(
        _cgroup, "_refusal", lambda folder: None
    )  # a file system of another kind makes no files
    monkeypatch.setattr(_cgroup, "_give_on", lambda own, controllers: False)  # nor does it refuse this
    tree(
        tmp_path,
        {
            "a": {"cgroup.controllers": BOTH},
            "a/service": {"cgroup.controllers": BOTH, "cgroup.subtree_control": given},
            "a/service/scope": {"cgroup.controllers": given, "cgroup.procs": "1\n", **bounds},
        },
    )
    own = str(tmp_path / "a/service/scope")
    found = _cgroup.of_version_2(own, str(tmp_path))
    if where is not None:
        assert found == dict.fromkeys(_cgroup.COUNTED, _cgroup.ControlGroupPlace(2, str(tmp_path / where)))
    else:
        assert found == {_cgroup.CPU: _cgroup.ControlGroupPlace(2, own)}


def test_version_2_counts_cpu_time_and_kills(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real group of version 2, whatever it can bound: it counts the CPU time of what nobody waited for, and
    what is in it ends at once."""
    with open("/proc/self/mountinfo") as stream:
        at = _cgroup._mounted([line.split() for line in stream], "cgroup2", "")
    with open("/proc/self/cgroup") as stream:
        own = next((line.strip()[3:] for line in stream if line.startswith("0::")), None)
    if at is None or own is None:
        pytest.skip("no control groups of version 2: would have proved that they count CPU time")
    try:
        places = _cgroup.of_version_2(_cgroup._below(at, own), at[1])
    except OSError as error:
        pytest.skip(f"{error}: would have proved that groups of version 2 count CPU time")
    monkeypatch.setattr(_cgroup, "places", lambda: {_cgroup.CPU: places[_cgroup.CPU]})
    code = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
reader, writer = os.pipe()
if os.fork() == 0:
    while time.process_time() < 0.3:
        pass
    os._exit(0)
os.close(writer)
os.read(reader, 1)
"""
    with Sandbox(workers=1) as sandbox:
        run_result = sandbox.run_one(Program(id="p", code=code))
    assert run_result.outcome is Outcome.RETURNED, run_result
    assert run_result.cpu_s is not None
    assert 0.3 <= run_result.cpu_s < 2
    group = _cgroup.ControlGroup()
    with begun(FORK, group) as process:
        assert process.stdin is not None
        print(file=process.stdin, flush=True)
        process.wait(20)  # its children sleep, and are in the group
        (folder,) = group.folders.values()
        assert Path(folder, "cgroup.procs").read_text().split()
        group.close()
    assert not Path(folder).exists()
