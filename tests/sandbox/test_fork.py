"""A program's process is a fork of a warm interpreter: what it finds is what a new interpreter would give it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.sandbox import Sandbox
from tests.sandbox.processes import in_new_interpreter

LEVELS = ("strict", "standard", "trusted")
SHOWN = """
import os, random, threading
seen = []
threads = [threading.Thread(target=lambda n=n: seen.append(n)) for n in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert sorted(seen) == [0, 1, 2]
child = os.fork()
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print(threading.active_count(), threading.main_thread() is threading.current_thread())
print(threading.main_thread().native_id == threading.get_native_id() == os.getpid())
print(threading.main_thread().ident == threading.get_ident())
"""


@pytest.mark.parametrize("level", LEVELS)
def test_threads_and_forks_are_those_of_a_new_interpreter(level: str) -> None:
    """What a program sees of its threads, and a child that it forks, is as without the sandbox."""
    plain = subprocess.run([sys.executable, "-c", SHOWN], capture_output=True, text=True, check=True)
    with Sandbox(level=level, workers=1) as sandbox:
        run_result = sandbox.run_one(Program(id="p", code=SHOWN))
    assert run_result.outcome is Outcome.RETURNED, run_result
    assert run_result.stdout == plain.stdout


@pytest.mark.parametrize("level", LEVELS)
def test_each_program_has_random_numbers_of_its_own(level: str) -> None:
    """Forks of one server do not share the state of `random`."""
    programs = [Program(id=str(n), code="import random; print(random.random())") for n in range(4)]
    with Sandbox(level=level, workers=1) as sandbox:
        given = [result.run_result.stdout for result in sandbox.run(programs)]
    assert len(set(given)) == 4


@pytest.mark.parametrize(("imported", "nothing"), [("json", True), ("logging", False), ("threading", True)])
def test_what_modules_do_after_a_fork_is_not_left_out(imported: str, nothing: bool) -> None:
    """The short way to fork is taken only where no module has something to do in the child that it leaves out."""
    code = f"import {imported}; from deskcheck.sandbox.inside import server as _server; print(_server._nothing_after_fork())"
    assert in_new_interpreter(code).stdout == f"{nothing}\n"


STEPS = """
import errno, json, os, signal, sys
from deskcheck.sandbox.linux import kernel as _kernel, steps as _steps

_kernel.prctl(_kernel.PR_SET_NO_NEW_PRIVS, 1)
out, err, channel = os.dup(1), os.dup(2), os.open("/dev/null", os.O_RDONLY)
steps = _steps.SetupSteps()
steps.call("setsid")
steps.be_killed_first()
steps.call("chdir", b"/usr")
steps.call("prctl", _kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
steps.only_own_signals()
packed = (
    _steps.moved([(out, 1), (err, 2)], close_on_exec=False) + _steps.moved([(channel, 100)], close_on_exec=True)
    + steps.packed + _steps.closed(3, 99) + _steps.closed(101, 0xFFFFFFFF)
)
parent = os.getpid()
if {way}(packed):
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))

def may(pid):
    try:
        os.kill(pid, 0)
    except PermissionError:
        return False
    return True

status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
print(json.dumps([
    os.getsid(0) == os.getpid(), os.getcwd(), [n for n in range(3, 200) if os.path.exists(f"/proc/self/fd/{n}")],
    os.get_inheritable(100), open("/proc/self/oom_score_adj").read().strip(), status["Seccomp_filters"].strip(),
    may(os.getpid()), may(-os.getpid()), may(parent), may(1),
]))
"""


def in_way(way: str, code: str) -> "subprocess.CompletedProcess[str]":
    if way == "_steps.compiled.fork":
        from deskcheck.sandbox.linux import steps as _steps

        if _steps.compiled is None:
            pytest.skip("not compiled here: would have proved that C confines a process as ctypes does")
    return in_new_interpreter(code.replace("{way}", way), check=False)


WAYS = ("_steps.compiled.fork", "_steps._fork")


@pytest.mark.parametrize("way", WAYS)
def test_a_process_makes_its_first_calls(way: str) -> None:
    """In C and through ctypes: its session, folder, descriptors, and whom it may signal."""
    ran = in_way(way, STEPS)
    assert ran.stderr == ""
    status = Path("/proc/self/status").read_text()
    filters = int(status.partition("Seccomp_filters:")[2].split()[0])
    expected = [True, "/usr", [100], False, "1000", str(filters + 1), True, True, False, False]
    assert json.loads(ran.stdout) == expected


@pytest.mark.parametrize("way", WAYS)
def test_a_call_that_fails_ends_the_process(way: str) -> None:
    """Nothing goes on half confined: the child gets an error that says which call it was."""
    code = STEPS.replace('b"/usr"', 'b"/no/such/folder"')
    ran = in_way(way, code)
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert "FileNotFoundError" in ran.stderr
    assert "system call" in ran.stderr
