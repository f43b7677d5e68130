"""A system call that the filter refused says its name in the detail of the ending, and nothing else does."""

import errno
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskcheck.recording import Outcome, Program
from deskcheck.sandbox import Confinement, Sandbox
from deskcheck.sandbox.linux import refused, seccomp
from tests.sample import spread

TELL = "the sandbox refused the system call "
CODE = tomllib.loads(Path(__file__).with_name("refused.toml").read_text("utf-8"))


@pytest.fixture(scope="module", params=spread([Confinement.STRICT, Confinement.STANDARD], 2))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(request.param, workers=1) as found:
        yield found


def test_its_name_is_told(sandbox: Sandbox) -> None:
    """On a line of its own, after what the exception says, which is as it is elsewhere."""
    for what, row in CODE["named"].items():
        run_result = sandbox.run_one(Program(id="p", code=row["code"]))
        assert run_result.outcome is Outcome.RAISED, what
        said, _, told = run_result.detail.rpartition("\n")
        assert told == TELL + row["call"], f"{what}: {run_result.detail}"
        assert str(run_result.exception) in said, what
        assert TELL not in said, what
        assert TELL not in run_result.stderr + run_result.stdout


def test_nothing_else_is_told(sandbox: Sandbox) -> None:
    """Where it was another error, or it is not known: then there is no name, and nothing of the program runs."""
    for what, code in CODE["unnamed"].items():
        run_result = sandbox.run_one(Program(id="p", code=code))
        assert run_result.outcome is Outcome.RAISED, what
        assert "sandbox" not in run_result.detail, f"{what}: {run_result.detail}"
    assert sandbox.run_one(Program(id="p", code=CODE["unnamed"]["an attribute with code"])).stdout == "run\n"


def test_in_a_session(sandbox: Sandbox) -> None:
    with sandbox.session() as session:
        assert session.run("import socket\nsocket.socket()").run_result.detail.endswith(f"{TELL}socket")
        assert session.run("1 / 0").run_result.detail == "ZeroDivisionError: division by zero"


def test_where_nothing_is_refused_nothing_is_told() -> None:
    """At `trusted` the kernel refuses as it wants to."""
    with Sandbox(Confinement.TRUSTED, workers=1) as sandbox:
        run_result = sandbox.run_one(
            Program(id="p", code="import os\nos.setxattr('nothing', 'user.a', b'b')")
        )
    assert run_result.outcome is Outcome.RAISED
    assert TELL not in run_result.detail


def test_of_the_owner_of_files() -> None:
    """Modes are refused where the program runs as the user, and not elsewhere."""
    assert seccomp.refuses("chmod", owner_changes=False) == errno.EPERM
    assert seccomp.refuses("chmod", owner_changes=True) is None
    assert seccomp.refuses("socket", owner_changes=True, listening=True) is None


_NEWER = {"posix.unshare", "posix.setns", "_socket.sethostname"}
"""From Python 3.12; and one that would do what it says."""


@pytest.mark.skipif(
    shutil.which("strace") is None, reason="no strace: would have proved which call each makes"
)
def test_each_function_makes_the_call(tmp_path: Path) -> None:
    """strace sees of each function, as the first call that the filter refuses, the one that is named."""
    of_filter = {name for name, call in refused._CALLS.items() if call not in refused.SHARED_MEMORY}
    assert {*CODE["tried"], *_NEWER} == of_filter
    code = "import contextlib, os, signal, socket, time\n"
    for name, text in CODE["tried"].items():
        code += f"os.path.exists('/begin/{name}')\nwith contextlib.suppress(OSError):\n    {text}\n"
    log = tmp_path / "log"
    done = subprocess.run(
        ["strace", "-f", "-o", log, sys.executable, "-I", "-S", "-c", code], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"strace may not trace here: {done.stderr[-200:]!r}")
    seen: dict[str, str] = {}
    at = ""
    for line in log.read_text(errors="replace").splitlines():
        call = line.partition(" ")[2].strip().partition("(")[0]
        if '"/begin/' in line:
            at = line.partition('"/begin/')[2].partition('"')[0]
        elif at and call.isidentifier() and seccomp.refuses(call, owner_changes=False) is not None:
            seen.setdefault(at, call)
    assert seen == {name: refused._CALLS[name] for name in CODE["tried"]}
