"""What is started under a guard ends with whoever asked for it."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deskcheck.sandbox.linux.guard import Guarded

LIMIT_S = 120
# A daemon, as tests start them: in a session of its own, its parent gone. It holds the pipe open.
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    told, tell = os.pipe()
    if os.fork() == 0:
        os.write(int(sys.argv[1]), b"daemon\\n")
        os.close(tell)
        time.sleep(1000)
    os.close(tell)
    os.read(told, 1)  # until it has written: it is ended with us
    os._exit(0)
os.wait()
if sys.argv[2] == "wait":
    time.sleep(1000)
sys.exit(7)
"""
CALLER = f"""
import os, sys, time
from pathlib import Path
from deskcheck.sandbox.linux.guard import Guarded
pipe = int(sys.argv[1])
with open(os.devnull, "wb") as output:
    Guarded([sys.executable, "-c", {DAEMON!r}, str(pipe), "wait"], folder=Path("/"), output=output,
            descriptors=(pipe,), environment=dict(os.environ))
os.close(pipe)
time.sleep(1000)
"""


def read(pipe: int) -> bytes:
    """What comes next; nothing once nobody holds the other end."""
    assert select.select([pipe], [], [], LIMIT_S)[0], "nothing came, and somebody still holds the pipe"
    return os.read(pipe, 100)


def test_what_a_process_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    """A daemon too; the status is the process's own."""
    pipe, theirs = os.pipe()
    with (tmp_path / "output").open("wb") as output:
        guarded = Guarded(
            [sys.executable, "-c", DAEMON, str(theirs), "go on"],
            folder=tmp_path,
            output=output,
            descriptors=(theirs,),
            environment={**os.environ},
        )
    os.close(theirs)
    assert read(pipe) == b"daemon\n"
    assert read(pipe) == b""
    assert guarded.end().status == 7
    os.close(pipe)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_a_caller_that_is_killed(number: int) -> None:
    """Whatever ends the caller, its process and that one's daemon go, too."""
    pipe, theirs = os.pipe()
    caller = subprocess.Popen([sys.executable, "-c", CALLER, str(theirs)], pass_fds=(theirs,))
    os.close(theirs)
    assert read(pipe) == b"daemon\n"
    caller.send_signal(number)
    assert caller.wait(LIMIT_S) == -number
    assert read(pipe) == b""
    os.close(pipe)


def test_a_command_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """It is told as if it had been started without a guard."""
    with (tmp_path / "output").open("wb") as output:
        guarded = Guarded(
            [str(tmp_path / "nothing")],
            folder=tmp_path,
            output=output,
            descriptors=(),
            environment={**os.environ},
        )
    with pytest.raises(FileNotFoundError):
        guarded.end()
