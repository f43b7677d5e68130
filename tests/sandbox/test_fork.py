"""A program's process is a fork of a warm interpreter: what it finds is what a new interpreter would give it."""

import os
import subprocess
import sys

import pytest

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.sandbox import Sandbox

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
        ending = sandbox.run_one(Program(id="p", code=SHOWN))
    assert ending.outcome is Outcome.RETURNED, ending
    assert ending.stdout == plain.stdout


@pytest.mark.parametrize("level", LEVELS)
def test_each_program_has_random_numbers_of_its_own(level: str) -> None:
    """Forks of one server do not share the state of `random`."""
    programs = [Program(id=str(n), code="import random; print(random.random())") for n in range(4)]
    with Sandbox(level=level, workers=1) as sandbox:
        given = [result.ending.stdout for result in sandbox.run(programs)]
    assert len(set(given)) == 4


@pytest.mark.parametrize(("imported", "nothing"), [("json", True), ("logging", False), ("threading", True)])
def test_what_modules_do_after_a_fork_is_not_left_out(imported: str, nothing: bool) -> None:
    """The short way to fork is taken only where no module has something to do in the child that it leaves out."""
    code = f"import {imported}; from deskcheck.sandbox import _server; print(_server._nothing_after_fork())"
    paths = os.pathsep.join(path for path in sys.path if path)
    shown = subprocess.run(
        [sys.executable, "-s", "-P", "-c", code],
        env={"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == f"{nothing}\n"
