"""A system call that the filter refused says its name in the detail of the ending, and nothing else does."""

import errno
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskcheck.recording import Outcome, Program
from deskcheck.sandbox import Confinement, Sandbox
from deskcheck.sandbox.linux import refused, seccomp
from tests.sample import spread

TELL = "the sandbox refused the system call "
NAMED = {
    "a socket": ("import socket\nsocket.socket()", "socket"),
    "a socket, in a function": (
        "def f():\n    import socket\n    return socket.create_server(('', 0))\nf()",
        "socket",
    ),
    "what it is called here": ("from os import chroot as café\ncafé(\n    '/',\n)", "chroot"),
    "in a text before it": ("x = 'é'; import os; os.setxattr('.', 'user.a', b'b')", "setxattr"),
    "a name is looked up": ("import socket\nsocket.getaddrinfo('example.com', 80)", "socket"),
    "what it came of": ("import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/')", "socket"),
    "in an except block": (
        "import os\ntry:\n    os.chroot('/')\nexcept OSError:\n    raise ValueError('x')",
        "chroot",
    ),
    "of a pair": ("import socket\na, b = socket.socketpair()\na.connect('/x')", "connect"),
    "a call that the filter does not know": ("import os\nos.memfd_create('x')", "memfd_create"),
    "a clock": ("import time\ntime.clock_settime(time.CLOCK_REALTIME, 0)", "clock_settime"),
}
UNNAMED = {
    "another error of such a call": "import os\nos.getxattr(5.5, 'a')",
    "its own error": "raise PermissionError(1, 'Operation not permitted')",
    "another function of that name": "class os:\n    def chroot(x): raise PermissionError(1, 'no')\nos.chroot('/')",
    "its own error in such a call": "import os\nclass P:\n    def __fspath__(self): raise PermissionError(1, 'no')\nos.chroot(P())",
    "a file that is not there": "open('nothing')",
    "a file outside": "open('/etc/shadow')",
    "no process": "import os\nos.kill(2 ** 22, 0)",
    "with arguments": "import os\nos.setpriority(os.PRIO_USER, 0, 5)",
    "an attribute with code": "class A:\n    def __getattr__(self, name):\n        print('run')\n        raise PermissionError(1, 'no')\nA().chroot()",
    "without a message": "import os\ntry:\n    os.chroot('/')\nexcept OSError:\n    raise ValueError",
    "a text that is not its source": "exec(compile('(1 / 0)', 'program.py', 'exec'))",
    "a cause that is a ring": "a = OSError(1, 'a')\nb = OSError(1, 'b')\na.__context__ = b\nb.__cause__ = a\nraise a",
}


@pytest.fixture(scope="module", params=spread([Confinement.STRICT, Confinement.STANDARD], 2))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(request.param, workers=1) as found:
        yield found


def test_its_name_is_told(sandbox: Sandbox) -> None:
    """On a line of its own, after what the exception says, which is as it is elsewhere."""
    for what, (code, name) in NAMED.items():
        run_result = sandbox.run_one(Program(id="p", code=code))
        assert run_result.outcome is Outcome.RAISED, what
        said, _, told = run_result.detail.rpartition("\n")
        assert told == TELL + name, f"{what}: {run_result.detail}"
        assert str(run_result.exception) in said, what
        assert TELL not in said, what
        assert TELL not in run_result.stderr + run_result.stdout


def test_nothing_else_is_told(sandbox: Sandbox) -> None:
    """Where it was another error, or it is not known: then there is no name, and nothing of the program runs."""
    for what, code in UNNAMED.items():
        run_result = sandbox.run_one(Program(id="p", code=code))
        assert run_result.outcome is Outcome.RAISED, what
        assert "sandbox" not in run_result.detail, f"{what}: {run_result.detail}"
    assert sandbox.run_one(Program(id="p", code=UNNAMED["an attribute with code"])).stdout == "run\n"


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


TRIED = {
    "_socket.socket.__init__": "socket.socket()",
    "_socket.socket.connect": "socket.socketpair()[0].connect('/nothing')",
    "_socket.socket.bind": "socket.socketpair()[0].bind('/nothing/x')",
    "_socket.socket.listen": "socket.socketpair()[0].listen()",
    "_socket.socket._accept": "socket.socketpair()[0]._accept()",
    "_socket.getaddrinfo": "socket.getaddrinfo('example.invalid', 80)",
    "_socket.gethostbyname": "socket.gethostbyname('example.invalid')",
    "_socket.gethostbyname_ex": "socket.gethostbyname_ex('example.invalid')",
    "posix.chmod": "os.chmod('/nothing', 0)",
    "posix.fchmod": "os.fchmod(99, 0)",
    "posix.chown": "os.chown('/nothing', 0, 0)",
    "posix.fchown": "os.fchown(99, 0, 0)",
    "posix.lchown": "os.lchown('/nothing', 0, 0)",
    "posix.chroot": "os.chroot('/nothing')",
    "posix.utime": "os.utime('/nothing')",
    "posix.getxattr": "os.getxattr('/nothing', 'a')",
    "posix.setxattr": "os.setxattr('/nothing', 'a', b'')",
    "posix.listxattr": "os.listxattr('/nothing')",
    "posix.removexattr": "os.removexattr('/nothing', 'a')",
    "posix.memfd_create": "os.memfd_create('x')",
    "time.clock_settime": "time.clock_settime(99, 0)",
    "time.clock_settime_ns": "time.clock_settime_ns(99, 0)",
    "_signal.pidfd_send_signal": "signal.pidfd_send_signal(99, 0)",
}
_NEWER = {"posix.unshare", "posix.setns", "_socket.sethostname"}
"""From Python 3.12; and one that would do what it says."""


@pytest.mark.skipif(
    shutil.which("strace") is None, reason="no strace: would have proved which call each makes"
)
def test_each_function_makes_the_call(tmp_path: Path) -> None:
    """strace sees of each function, as the first call that the filter refuses, the one that is named."""
    of_filter = {name for name, call in refused._CALLS.items() if call not in refused.SHARED_MEMORY}
    assert {*TRIED, *_NEWER} == of_filter
    code = "import contextlib, os, signal, socket, time\n"
    for name, text in TRIED.items():
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
    assert seen == {name: refused._CALLS[name] for name in TRIED}
