"""What the sandbox refused a program is known, although the program swallows the error; nothing else counts."""

import errno
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskcheck.recording import Outcome, Program
from deskcheck.recording.recording import RunResult
from deskcheck.sandbox import Confinement, Sandbox
from deskcheck.sandbox.linux import notices
from deskcheck.sandbox.linux.call_numbers import NUMBERS
from tests.circumstances import ROOT, as_container, as_nobody
from tests.sample import spread

SWALLOWED = """
import errno, os, socket
for call in (socket.socket, lambda: os.chroot("/"), lambda: os.memfd_create("x")):
    try:
        call()
    except OSError as error:
        print(error.errno)
"""
PLAIN = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text("utf-8"))["plain"]


@pytest.fixture(scope="module", params=spread([Confinement.STRICT, Confinement.STANDARD], 2))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(request.param, workers=1) as found:
        yield found


def ran(sandbox: Sandbox, code: str, path: str | None = None) -> RunResult:
    return sandbox.run_one(Program(id="p", code=code, path=path))


def test_calls_that_a_program_was_refused_are_counted(sandbox: Sandbox) -> None:
    """The program gets the numbers that it got before anybody counted."""
    run_result = ran(sandbox, SWALLOWED)
    assert run_result.stdout.split() == [str(errno.EPERM), str(errno.EPERM), str(errno.ENOSYS)], run_result
    assert run_result.refused == {"socket": 1, "chroot": 1, "memfd_create": 1}


def test_what_is_not_refused_does_not_count(sandbox: Sandbox) -> None:
    for what, code in PLAIN.items():
        run_result = ran(sandbox, code)
        assert run_result.outcome is Outcome.RETURNED, (what, run_result)
        assert run_result.refused == {}, what


def test_calls_of_children_and_threads_count(sandbox: Sandbox) -> None:
    code = (
        "import os, socket, threading\n"
        "def f():\n    try:\n        socket.socket()\n    except OSError: pass\n"
        "threads = [threading.Thread(target=f) for _ in range(3)]\n"
        "for t in threads: t.start()\nfor t in threads: t.join()\n"
        "if os.fork() == 0:\n    f()\n    os._exit(0)\nos.wait()\n"
    )
    assert ran(sandbox, code).refused == {"socket": 4}


def test_who_makes_very_many_is_told_of_in_few_words(sandbox: Sandbox) -> None:
    """And what it did is not the next one's. The mark of the beginning hides nothing."""
    code = (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        f"libc.syscall({NUMBERS['socket'][notices._COLUMN]}, 2, 1, 0)\n"
        f"for number in range(3000, 3100): libc.syscall(number)\nlibc.syscall({notices.BEGIN})\n"
        "for _ in range(20_000): libc.syscall(2999)\n"
    )
    refused = ran(sandbox, code).refused
    assert refused is not None
    assert len(refused) == notices.MOST_NAMES
    assert 10_000 < refused["system call 2999"] < 20_000
    code = "import socket, ctypes\ntry:\n    socket.socket()\nexcept OSError: pass\n"
    refused = ran(sandbox, code + f"ctypes.CDLL(None).syscall({notices.BEGIN})").refused
    assert refused is not None
    assert refused["socket"] == 1
    assert ran(sandbox, "").refused == {}


def test_signals_do_not_stop_refused_calls(sandbox: Sandbox) -> None:
    code = (
        "import ctypes, signal\nhits = []\nsignal.signal(signal.SIGALRM, lambda *_: hits.append(1))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\n"
        "libc = ctypes.CDLL(None, use_errno=True)\nnumbers = set()\n"
        f"while len(hits) < 50:\n    libc.syscall({NUMBERS['chroot'][notices._COLUMN]}, b'/')\n"
        "    numbers.add(ctypes.get_errno())\nprint(numbers)"
    )
    assert ran(sandbox, code).stdout in (f"{{{errno.EPERM}}}\n", f"{{{errno.EPERM}, {errno.EINTR}}}\n")


def test_paths_that_open_outside_alone_are_named(sandbox: Sandbox, tmp_path: Path) -> None:
    """Read, written, listed, made, connected to; found missing, or closed. A path that is nowhere is not."""
    folder = tmp_path / "apart"
    folder.mkdir()
    (folder / "data.csv").write_text("1")
    (folder / "sub").mkdir()
    if os.geteuid() == 0:
        for path in (tmp_path.parent, tmp_path, folder):
            path.chmod(0o755)
    tries = {
        "open(p + '/data.csv')": "/data.csv",
        "open(p + '/data.csv', 'a')": "/data.csv",
        "open(p + '/new.txt', 'w')": "/new.txt",
        "open((p + '/data.csv').encode())": "/data.csv",
        "import pathlib; pathlib.Path(p, 'data.csv').read_text()": "/data.csv",
        "import os; os.listdir(p)": "",
        "import glob; glob.glob(p + '/*')": "",
        "import os; os.mkdir(p + '/made')": "/made",
        "import sqlite3; sqlite3.connect(p + '/data.csv').execute('create table x (y)')": "/data.csv",
        "import ctypes; ctypes.CDLL(p + '/data.csv')": "/data.csv",
        "open(p + '/nowhere')": None,
        "open(p + '/nowhere/x', 'w')": None,
    }
    for statement, below in tries.items():
        code = f"p = {str(folder)!r}\ntry:\n    {statement}\nexcept Exception: pass\n"
        expected = {} if below is None else {f"{folder}{below}": 1}
        assert ran(sandbox, code).refused == expected, statement
    assert not (folder / "new.txt").exists()


def test_a_private_file_beside_the_program_is_named(sandbox: Sandbox, tmp_path: Path) -> None:
    """It is looked for where the program's file is; what is given to it is not refused."""
    (tmp_path / "secret.key").write_text("x")
    (tmp_path / "data.txt").write_text("x")
    if os.geteuid() == 0:
        tmp_path.parent.chmod(0o755)
        tmp_path.chmod(0o755)
    code = "for n in ('data.txt', 'secret.key', 'nothing'):\n    try:\n        open(n)\n    except OSError: pass\n"
    assert ran(sandbox, code, path=str(tmp_path)).refused == {"./secret.key": 1}


def test_the_interpreters_caches_are_not_the_programs(sandbox: Sandbox, tmp_path: Path) -> None:
    """It would write them outside, where it may."""
    (tmp_path / "beside.py").write_text("x = 1\n")
    if os.geteuid() == 0:
        tmp_path.parent.chmod(0o755)
        tmp_path.chmod(0o755)
    run_result = ran(sandbox, "import beside\nprint(beside.x)", path=str(tmp_path))
    assert (run_result.stdout, run_result.refused) == ("1\n", {})


def test_few_paths_are_named(sandbox: Sandbox) -> None:
    code = (
        "import os\nos.listdir\n"
        "for n in range(100):\n    try:\n        open('/' + './' * n + 'etc/passwd')\n    except OSError: pass\n"
        "try:\n    open('/' + 'x' * 100_000)\nexcept OSError: pass\n"
    )
    refused = ran(sandbox, code).refused
    assert refused is not None
    assert len(refused) <= 32


def test_processes_that_share_memory_run() -> None:
    """At the strict level. At the standard one their exception says what was refused."""
    code = (
        "import multiprocessing as mp\nfrom multiprocessing import shared_memory\n"
        "def twice(n): return 2 * n\n"
        "lock = mp.Lock()\n"
        "with lock, mp.get_context('fork').Pool(2) as pool: print(pool.map(twice, range(3)))\n"
        "memory = shared_memory.SharedMemory(create=True, size=100, name='left')\nmemory.buf[0] = 7\n"
        "print(memory.buf[0])\nimport os\nprint(sorted(os.listdir()))"
    )
    with Sandbox(workers=1) as strict:
        for _ in range(2):  # nothing of the first is in the second one's way
            run_result = ran(strict, code)
            assert run_result.stdout.split("\n")[:3] == ["[0, 2, 4]", "7", "['program.py']"], run_result
            assert run_result.refused == {}
        assert ran(strict, "import os\nprint(os.listdir('/dev/shm'))").stdout == "[]\n"
    with Sandbox("standard", workers=1) as standard:
        assert ran(standard, code).refused == {"sem_open": 1}
        code = "from multiprocessing import shared_memory as m\nm.SharedMemory(create=True, size=9)"
        assert ran(standard, code).refused == {"shm_open": 1}


@pytest.mark.skipif(sys.version_info < (3, 14), reason="would show that a fork server's socket is refused")
def test_a_pool_of_a_fork_server_is_reported() -> None:
    """What 3.14 and later take where a program names no way to start processes."""
    code = "import multiprocessing as mp\ndef f(n): return n\nmp.Pool(2)"
    with Sandbox(workers=1) as strict:
        run_result = ran(strict, code)
    assert (run_result.outcome, run_result.refused) == (Outcome.RAISED, {"socket": 1})


@pytest.mark.parametrize(
    "left",
    [
        "os.chmod('/dev/shm/.', 0)",
        "os.rename('/scratch/shm', '/scratch/program/x') ; os.symlink('/usr', '/scratch/shm')",
        "os.makedirs('/dev/shm/a/b/c')",
    ],
)
def test_the_folder_of_shared_memory_is_made_again(left: str) -> None:
    with Sandbox(workers=1) as sandbox:
        ran(sandbox, f"import os\ntry:\n    {left}\nexcept OSError: pass")
        code = "import os\nprint(os.listdir('/dev/shm'))\nopen('/dev/shm/x', 'w').close()"
        run_result = ran(sandbox, code)
    assert (run_result.outcome, run_result.stdout) == (Outcome.RETURNED, "[]\n"), run_result


IN_CIRCUMSTANCES = f"""
import json, sys
sys.path.insert(0, {str(ROOT / "src")!r})
from deskcheck.errors import SandboxError
from deskcheck.recording.program import Program
from deskcheck.sandbox import Sandbox
try:
    with Sandbox(sys.argv[1], workers=1) as sandbox:
        print(json.dumps(sandbox.run_one(Program(id="p", code={SWALLOWED!r})).refused))
except SandboxError as error:
    print(json.dumps(str(error)))
"""


@pytest.mark.parametrize("level", ["strict", "standard"])
@pytest.mark.parametrize("circumstance", ["nobody", "container"])
def test_no_privilege_is_needed(circumstance: str, level: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("not root: would have proved that refusals are seen by other users and in containers")
    command = as_nobody() if circumstance == "nobody" else as_container()
    found = subprocess.run(
        [*command, "-c", IN_CIRCUMSTANCES, level],
        cwd="/",
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    told = json.loads(found.stdout)
    if isinstance(told, str):
        pytest.skip(f"{told}: would have proved that refusals are seen there")
    assert told == {"socket": 1, "chroot": 1, "memfd_create": 1}


def test_where_another_filter_asks_already_nothing_is_known() -> None:
    """A process has one listener: the program runs as it does, under a filter that asks nobody."""
    allow_all = "HBBI', 6, 0, 0, 0x7FFF0000"
    code = (
        "import os, struct, sys\n"
        f"sys.path.insert(0, {str(ROOT / 'src')!r})\n"
        "from deskcheck.recording.program import Program\nfrom deskcheck.sandbox import Sandbox\n"
        "from deskcheck.sandbox.linux import seccomp\n"
        f"seccomp.attach(struct.pack('{allow_all}), listener=True)\n"
        "with Sandbox(sys.argv[1], workers=1) as sandbox:\n"
        f"    found = sandbox.run_one(Program(id='p', code={SWALLOWED!r}))\n"
        "print(found.stdout.split(), found.refused)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, "strict"], capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.stdout == "['1', '1', '38'] None\n", ended
