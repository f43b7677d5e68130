"""A living interpreter in the sandbox: state that is kept and taken back, and pieces that attack the session."""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskcheck.errors import SandboxError
from deskcheck.recording.outcome import Outcome
from deskcheck.sandbox import After, Confinement, Limits, Sandbox, Session, SessionEnded
from tests.circumstances import ROOT, as_nobody
from tests.sample import examples, spread
from tests.sandbox.processes import running

LIMITS = Limits(cpu_s=2, wall_s=60, memory_bytes=1 << 30, output_bytes=100_000)


@pytest.fixture(
    scope="module", params=spread([Confinement.STRICT, Confinement.STANDARD, Confinement.TRUSTED], 3)
)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox of each level."""
    with Sandbox(request.param, workers=1, limits=LIMITS) as place:
        yield place


@pytest.fixture(scope="module")
def strict() -> Iterator[Sandbox]:
    with Sandbox(workers=1, limits=LIMITS) as place:
        yield place


@pytest.fixture
def session(sandbox: Sandbox) -> Iterator[Session]:
    with sandbox.session() as one:
        yield one


def shown(session: Session, code: str) -> str | None:
    """The rendering of what an expression gives in a session."""
    return session.run(code).run_result.result


NAMED = "import ctypes\nctypes.CDLL(None).prctl(15, b'{name}', 0, 0, 0)\n"
"""Has a process, and those that it forks, be found by `running`."""


def test_state_is_kept_and_the_last_expression_is_the_value(session: Session) -> None:
    """Names, imports and the last value live on; a piece that ends in a statement has no value."""
    first = session.run("import math\nx = [math.pi]")
    assert (first.outcome, first.value, first.run_result.stdout) == (Outcome.RETURNED, None, "")
    second = session.run("x.append(1)\nprint('out')\nx")
    assert repr(second.value) == f"[{3.141592653589793}, 1]"
    assert second.value is not None
    assert second.value.builtin
    assert second.run_result.stdout == "out\n"
    assert shown(session, "len(_)") == "2"
    assert session.run("class A:\n    pass\nA()").run_result.result == "A#1()"


def test_an_exception_is_data_and_the_session_goes_on(session: Session) -> None:
    """What was done before the exception stays done; the traceback shows the piece's own source."""
    session.run("def f(n):\n    return 1 / n")
    piece = session.run("y = 5\nf(0)")
    assert piece.outcome is Outcome.RAISED
    assert piece.run_result.detail == "ZeroDivisionError: division by zero"
    assert piece.after is After.KEPT
    assert "return 1 / n" in piece.run_result.stderr
    assert "_session_child" not in piece.run_result.stderr
    assert session.run("def g(:").run_result.exception == "SyntaxError"
    assert session.run("raise KeyboardInterrupt").outcome is Outcome.RAISED
    assert session.run("x = [0] * (1 << 36)").outcome is Outcome.OUT_OF_MEMORY
    assert shown(session, "y") == "5"


def test_what_a_piece_did_with_files(session: Session) -> None:
    """Created, changed (to the same size at once, too) and removed paths, folders with a slash."""
    made = session.run("import os\nos.makedirs('d/e')\nfor n in 'abc':\n    open('d/' + n, 'w').write(n)")
    assert made.files.created == ("d/", "d/a", "d/b", "d/c", "d/e/")
    done = session.run(
        "open('d/a', 'w').write('A'); os.remove('d/b'); os.rmdir('d/e'); os.rename('d/c', 'c')"
    )
    assert done.files.changed == ("d/a",)
    assert done.files.removed == ("d/b", "d/c", "d/e/")
    assert done.files.created == ("c",)
    nothing = session.run("open('d/a').read()").files
    assert (nothing.created, nothing.changed, nothing.removed, nothing.left_out) == ((), (), (), 0)
    many = session.run("for n in range(600):\n    open(f'{n:03}', 'w').close()").files
    assert (len(many.created), many.left_out) == (500, 100)


def test_a_snapshot_is_everything_and_can_be_restored_again(session: Session) -> None:
    """Objects, random state, modules and files come back, twice; what came between is gone."""
    session.run(
        "import os, random\nrandom.seed(3)\nx = {'a': [1]}\nopen('kept', 'w').write('1')\nos.mkdir('d')"
    )
    before = session.snapshot()
    drawn = shown(session, "random.random()")
    for _ in range(2):
        session.run(
            "x['a'].append(2); import wave; os.remove('kept'); open('d/new', 'w').write('n'); os.chdir('d')"
        )
        session.restore(before)
        state = "x, open('kept').read(), sorted(os.listdir()), os.listdir('d')"
        assert shown(session, state) == "({'a': [1]}, '1', ['d', 'kept'], [])"
        assert shown(session, "__import__('sys').modules.get('wave')") == "None"
        assert shown(session, "random.random()") == drawn


def test_a_session_is_in_its_folder_again(session: Session) -> None:
    """The folder that it had gone into is another one after the files were put back: it is in that."""
    session.run("import os\nos.mkdir('d')\nos.chdir('d')\nopen('f', 'w').close()")
    before = session.snapshot()
    for _ in range(2):
        session.run("os.remove('f')\nos.chdir('..')")
        session.restore(before)
        assert shown(session, "os.path.basename(os.getcwd()), os.listdir()") == "('d', ['f'])"


def test_open_files_that_can_only_be_read(session: Session) -> None:
    """Each copy goes on reading from where the file was at the snapshot, whatever another has read."""
    session.run("import string\nf = open(string.__file__, buffering=1 << 9)\nbegun = f.read(700)")
    before = session.snapshot()
    rest = shown(session, "hash(f.read())")
    session.run("f.seek(3)")
    for _ in range(2):
        session.restore(before)
        assert shown(session, "hash(f.read())") == rest
    session.restore(before)
    assert shown(session, "begun + f.read() == open(string.__file__).read()") == "True"


def test_a_dropped_snapshot_is_gone(strict: Sandbox) -> None:
    """It cannot be restored, and the others can."""
    with strict.session() as session:
        session.run("x = 0")
        first, second = session.snapshot(), session.snapshot()
        session.drop(second)
        with pytest.raises(ValueError, match="not a snapshot"):
            session.restore(second)
        session.run("x = 1")
        session.restore(first)
        assert shown(session, "x") == "0"


@settings(
    max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.one_of(st.integers(0, 9).map(lambda n: ("set", n)), st.just(("snapshot", 0)), st.integers(0, 3).map(lambda n: ("restore", n))), max_size=8))  # fmt: skip
def test_a_session_is_what_a_model_of_it_says(strict: Sandbox, steps: list[tuple[str, int]]) -> None:
    """However pieces, snapshots and restores follow one another, variable and file are those of the model."""
    with strict.session() as session:
        session.run("x = []\nopen('f', 'w').close()")
        state: list[int] = []
        points = []
        for what, n in steps:
            if what == "set":
                state = [*state, n]
                session.run(f"x.append({n}); open('f', 'w').write(repr(x))")
            elif what == "snapshot":
                points.append((session.snapshot(), state))
            elif n < len(points):
                session.restore(points[n][0])
                state = points[n][1]
            assert shown(session, "x") == repr(state)
            assert shown(session, "open('f').read()") == repr(repr(state) if state else "")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()", "1 threads"),
        (
            "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1)",
            "processes",
        ),
        ("f = open('data', 'w')", "'data' open"),
        ("import mmap; m = mmap.mmap(-1, 4096)", "memory that it shares"),
        ("import os; os.mkfifo('pipe')", "'pipe' is neither"),
    ],
    ids=["thread", "child", "open file", "shared memory", "fifo"],
)
def test_what_a_fork_does_not_hold_is_refused(strict: Sandbox, code: str, why: str) -> None:
    """A snapshot that would not be exact is an error that says why, and the session goes on."""
    with strict.session() as session:
        assert session.run(code).outcome is Outcome.RETURNED
        with pytest.raises(SandboxError, match=why):
            session.snapshot()
        assert shown(session, "1 + 1") == "2"


ENDS = [
    ("import os; os._exit(3)", Outcome.EXITED, "status 3"),
    ("import sys; sys.exit(3)", Outcome.EXITED, "SystemExit: 3"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", Outcome.KILLED, "SIGKILL"),
    ("import ctypes; ctypes.string_at(0)", Outcome.KILLED, "SIGSEGV"),
    ("while True: pass", Outcome.TIMED_OUT, "CPU time"),
    ("while True: print('x' * 1000)", Outcome.OUTPUT_LIMIT, "100000 bytes"),
    ("import time; time.sleep(60)", Outcome.TIMED_OUT, "wall time"),
]


@pytest.mark.parametrize(("code", "outcome", "said"), ENDS, ids=[said for _, _, said in ENDS])
def test_a_piece_that_ends_the_interpreter(strict: Sandbox, code: str, outcome: Outcome, said: str) -> None:
    """With a snapshot the session is back there; without one it has ended, and says so from then on."""
    limits = replace(LIMITS, cpu_s=0.5, wall_s=0.5 if said == "wall time" else 60.0)
    with strict.session() as session:
        session.run("x = 1")
        session.snapshot()
        session.run("x = 2; open('f', 'w').close()")
        piece = session.run(code, limits=limits)
        assert (piece.outcome, piece.after) == (outcome, After.ROLLED_BACK)
        assert said in piece.run_result.detail
        assert "back at snapshot 1, after piece 1" in piece.word
        assert shown(session, "x, __import__('os').listdir()") == "(1, [])"
    with strict.session() as session:
        piece = session.run(code, limits=limits)
        assert (piece.outcome, piece.after) == (outcome, After.ENDED)
        assert session.ended is not None
        with pytest.raises(SessionEnded, match="piece 1"):
            session.run("1")


def test_the_session_has_limits_of_its_own(strict: Sandbox) -> None:
    """Pieces that are each within bounds use up what all of them have; then it says so."""
    with strict.session(cpu_s=1.0) as session:
        spin = "import time\nuntil = time.process_time() + {}\nwhile time.process_time() < until: pass"
        assert session.run(spin.format(0.4)).outcome is Outcome.RETURNED
        second = session.run(spin.format(1.5))
        assert second.outcome is Outcome.TIMED_OUT
        assert "left to the session" in second.run_result.detail or "CPU" in second.run_result.detail
        assert second.after is After.ENDED


def test_nothing_runs_between_pieces(session: Session) -> None:
    """A thread and a child that a piece leaves behind stand still until the next piece."""
    session.run(
        "import threading, os, time\n"
        "ticks = 0\n"
        "def tick():\n    global ticks\n    while True:\n        ticks += 1\n        time.sleep(0.001)\n"
        "threading.Thread(target=tick, daemon=True).start()\n"
        "if os.fork() == 0:\n    while True:\n        open('grows', 'a').write('x')\n        time.sleep(0.001)\n"
        "time.sleep(0.1)"
    )
    first = session.run("ticks, os.path.getsize('grows')")
    time.sleep(0.5)
    second = session.run("ticks, os.path.getsize('grows')")
    assert first.value is not None
    assert second.value is not None
    for before, after in zip(first.value.items, second.value.items, strict=True):
        assert isinstance(before.atom, int)
        assert isinstance(after.atom, int)
        assert 0 < before.atom <= after.atom < before.atom + 250


@pytest.mark.parametrize("how", ["close", "sandbox", "piece killed", "rolled back"])
def test_nothing_is_left_running(sandbox: Sandbox, how: str) -> None:
    """Threads, children, children that left their session, and snapshots end with it, however it ends."""
    name = f"left-{secrets.token_hex(4)}"
    fork = (
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork():\n        os._exit(0)\n    time.sleep(600)\n"
    )
    with Sandbox(sandbox.level, workers=1, limits=LIMITS) as place:
        session = place.session()
        session.run(NAMED.format(name=name) + "import os, time")
        session.snapshot()
        session.run(fork + "if os.fork() == 0:\n    time.sleep(600)\n")
        assert len(running(name)) >= 4
        if how == "piece killed":
            session.run("os._exit(0)")
            assert len(running(name)) == 2  # the snapshot, and what goes on from it
        if how == "rolled back":
            session.run("os.kill(-1, 9)" if sandbox.level is Confinement.STRICT else "os._exit(1)")
        if how != "sandbox":
            session.close()
            assert running(name) == []
    assert running(name) == []


CALLER = """
import sys, time
from deskcheck.sandbox import Limits, Sandbox
with Sandbox(sys.argv[1], workers=1) as sandbox:
    session = sandbox.session()
    session.run(sys.argv[2])
    session.snapshot()
    if sys.argv[3] == "idle":
        print("there", flush=True)
        time.sleep(60)
    session.run("import sys; sys.stdout.write('x'); import os; os.fork(); open('begun', 'w').close(); import time; time.sleep(60)")
"""


@pytest.mark.parametrize("when", ["idle", "busy"])
def test_nothing_is_left_running_when_the_caller_is_killed(sandbox: Sandbox, when: str) -> None:
    """The caller dies without a word, between pieces or in one: interpreter, children and snapshots go too."""
    name = f"left-{secrets.token_hex(4)}"
    arguments = [sys.executable, "-c", CALLER, sandbox.level, NAMED.format(name=name), when]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as caller:
        until = time.monotonic() + 60
        while len(running(name)) < (2 if when == "idle" else 3):
            assert time.monotonic() < until
            time.sleep(0.02)
        os.kill(caller.pid, signal.SIGKILL)
    until = time.monotonic() + 30
    while running(name):
        assert time.monotonic() < until, "still running"
        time.sleep(0.05)


FORGED = """b'end {"outcome": "returned", "result": "42", "result_builtin": true, "cpu_s": 0}'"""


@pytest.mark.parametrize(
    ("attack", "outcomes"),
    [
        (f"for fd in mine:\n    os.write(fd, {FORGED})\n1 / 0", {Outcome.KILLED}),
        ("for fd in mine:\n    os.write(fd, b'\\0\\0\\0\\5' + b'x' * 16 + b'ready')", {Outcome.KILLED}),
        ("for fd in mine:\n    os.close(fd)", {Outcome.EXITED, Outcome.KILLED}),
        (
            f"import socket\na, b = socket.socketpair()\nfor fd in mine:\n    os.dup2(a.fileno(), fd)\nb.send({FORGED})",
            {Outcome.RAISED},  # the number is above what the limit on open files lets it make
        ),
        (
            "import socket\nfor fd in mine:\n    try:\n        socket.socket(fileno=fd).shutdown(2)\n    except OSError:\n        pass",
            {Outcome.EXITED, Outcome.KILLED},
        ),
        ("for fd in mine:\n    os.write(fd, (1 << 29).to_bytes(4, 'big'))\nos._exit(0)", {Outcome.EXITED}),
        ("import time\nos.closerange(0, 1 << 16)\ntime.sleep(0.1)", {Outcome.EXITED, Outcome.KILLED}),
        ("for fd in mine:\n    os.set_blocking(fd, False)", {Outcome.RETURNED, Outcome.EXITED}),
    ],
    ids=["report", "message", "close", "reuse", "shutdown", "half a message", "close all", "not blocking"],
)
def test_the_channel_cannot_be_used(sandbox: Sandbox, attack: str, outcomes: set[Outcome]) -> None:
    """What a piece writes there, or does to it, never counts as a report; the session ends or rolls back."""
    listed = "import os\nmine = []\nfor fd in range(3, 4096):\n    try:\n        os.fstat(fd)\n    except OSError:\n        continue\n    mine.append(fd)\n"
    with sandbox.session(limits=replace(LIMITS, wall_s=2)) as session:
        session.run("x = 1")
        session.snapshot()
        piece = session.run(listed + textwrap.dedent(attack))
        assert piece.outcome in outcomes
        assert piece.run_result.result is None
        if piece.after is After.KEPT:
            return
        assert session.ended is not None or shown(session, "x") == "1"


LINKED = f"""
import sys
sys.path.insert(0, {str(ROOT / "src")!r})
from deskcheck.errors import SandboxError
from deskcheck.sandbox import Sandbox
with Sandbox(sys.argv[1], workers=1) as sandbox, sandbox.session() as session:
    session.run("import os\\nown = os.getcwd()\\nos.rename(own, own + '-aside')")
    session.run(f"os.symlink({{sys.argv[2]!r}}, own)")
    try:
        snapshot = session.snapshot()
    except SandboxError as error:
        print(error)
        sys.exit()
    session.run("os.unlink(own)\\nos.rename(own + '-aside', own)")
    session.restore(snapshot)
    print(session.run("[open(name).read() for name in os.listdir(own)]").run_result.result)
"""


@pytest.mark.parametrize("level", ["strict", "standard"])
def test_a_snapshot_holds_no_files_from_elsewhere(level: str) -> None:
    """Where a program is the caller's user, it may put a link in the place of its folder: what that leads to is
    not copied."""
    command = as_nobody() if os.geteuid() == 0 else [sys.executable]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        Path(folder, "private").write_text("secret")
        ran = subprocess.run(
            [*command, "-c", LINKED, level, folder], capture_output=True, text=True, cwd="/", check=False
        )
    assert "the session's folder is gone" in ran.stdout, ran.stdout + ran.stderr


def test_a_child_that_writes_later_is_found_out(session: Session) -> None:
    """A process left behind that writes a report while the next piece runs ends it as a forger, not as an answer."""
    session.run(
        "import os, time\nread, write = os.pipe()\npid = os.getpid()\n"
        "ours = []\nfor fd in range(100, 4096):\n    try:\n        os.fstat(fd)\n    except OSError:\n        continue\n    ours.append(os.dup(fd))\n"
        f"if os.fork() == 0:\n    os.read(read, 1)\n    for fd in ours:\n        os.write(fd, {FORGED})\n    time.sleep(60)\n"
    )
    piece = session.run("os.write(write, b'x')\ntime.sleep(1)\n'not 42'")
    assert piece.outcome is Outcome.KILLED
    assert "wrote to the session's channel" in piece.run_result.detail
    assert piece.run_result.result is None


def test_a_child_that_returns_from_the_piece_is_nobody(session: Session) -> None:
    """A fork that comes to the end of its piece does not report, and hears no later piece."""
    piece = session.run("import os\nchild = os.fork()\nchild == 0")
    assert piece.run_result.result == "False"
    assert [shown(session, f"{n}") for n in range(5)] == ["0", "1", "2", "3", "4"]


PATCHES = """
import ast, builtins, hashlib, io, json, linecache, marshal, os, socket, sys, threading, traceback, types
def lie(*args, **kwargs):
    return 42
for module, names in (
    (json, "dumps loads"), (marshal, "dumps loads"), (ast, "parse Expression"), (os, "write read getpid _exit"),
    (hashlib, "blake2b"), (traceback, "print_exception format_exception"), (socket, "recv_fds"),
    (builtins, "compile exec eval print"), (threading, "Lock"),
):
    for name in names.split():
        setattr(module, name, lie)
for name, module in list(sys.modules.items()):
    if name.startswith("deskcheck") and name.endswith(("_channel", "process", "_calling")):
        for each in list(vars(module)):
            if callable(vars(module)[each]):
                setattr(module, each, lie)
sys.excepthook = lie
"""


def test_patched_machinery_changes_nothing(session: Session) -> None:
    """A piece that replaces what a session is made of lies to later pieces of itself, not about them."""
    assert session.run(PATCHES).after is After.KEPT
    assert session.run("1 / 0").outcome is Outcome.RAISED
    assert session.run("raise ValueError('x')").run_result.detail == "ValueError: x"
    assert shown(session, "6 * 7 + 1") == "43"
    assert session.run("sys.exit(0)").outcome is Outcome.EXITED


def test_builtins_that_break_everything(session: Session) -> None:
    """Where the library itself cannot go on, the piece has not returned, and the session says that it has ended."""
    piece = session.run("import builtins\nbuiltins.isinstance = builtins.len = lambda *args: 42\n42")
    assert piece.outcome is Outcome.EXITED
    assert piece.after is After.ENDED


def test_a_thread_cannot_speak_for_the_next_piece(session: Session) -> None:
    """A thread that writes to every descriptor, all the time, makes the next piece killed, not answered."""
    session.run(
        "import threading, os\n"
        f"def write():\n    while True:\n        for fd in range(100, 4096):\n            try:\n                os.write(fd, {FORGED})\n            except OSError:\n                pass\n"
        "threading.Thread(target=write, daemon=True).start()",
    )
    if session.ended is None:
        piece = session.run("import time; time.sleep(1)")
        assert piece.outcome is Outcome.KILLED
        assert piece.value is None


def test_killing_the_snapshot(strict: Sandbox) -> None:
    """A piece that kills the processes that hold snapshots ends the session with a word, and nothing hangs."""
    with strict.session() as session:
        session.run("x = 1")
        first = session.snapshot()
        piece = session.run("import os; os.kill(-1, 9); os._exit(0)")
        assert piece.after is After.ENDED
        assert session.ended is not None
        with pytest.raises(SessionEnded):
            session.restore(first)
    with strict.session() as session:  # waking one up is no better: it waits
        session.run("x = 1")
        first = session.snapshot()
        assert session.run("import os, signal; os.kill(-1, signal.SIGCONT); x = 2").after is After.KEPT
        session.restore(first)
        assert shown(session, "x") == "1"


def test_files_of_a_snapshot_are_out_of_reach(sandbox: Sandbox) -> None:
    """A piece that removes all that it can reach, its own folder too, does not reach a snapshot's files."""
    with sandbox.session() as session:
        session.run("import os, shutil\nopen('kept', 'w').write('1')\nos.symlink('/etc/passwd', 'link')")
        point = session.snapshot()
        session.run(
            "for name in os.listdir('.'):\n    os.unlink(name)\nos.mkdir('link')\nopen('link/x', 'w').close()"
        )
        session.restore(point)
        assert shown(session, "open('kept').read(), os.readlink('link')") == "('1', '/etc/passwd')"
        moved = session.run(
            "os.chdir('..')\ntry:\n    os.rename('program', 'moved')\nexcept OSError:\n    pass"
        )
        if moved.files.removed:
            with pytest.raises(SessionEnded, match="its folder is gone"):
                session.restore(point)
        else:
            session.restore(point)
            assert shown(session, "open('kept').read()") == "'1'"


def test_too_many_files_for_a_snapshot(strict: Sandbox) -> None:
    """Files beyond the bound make no snapshot, said so; the session goes on."""
    with strict.session(limits=replace(LIMITS, cpu_s=20)) as session:
        session.run("import os\nfor n in range(10_001):\n    os.mknod(str(n))")
        with pytest.raises(SandboxError, match="more than 10000 files"):
            session.snapshot()
        assert shown(session, "1") == "1"


def test_a_closed_sandbox_ends_its_sessions_and_a_server_is_used_again() -> None:
    """After a session its server runs programs and sessions as before, without anything of it."""
    with Sandbox(workers=1, limits=LIMITS) as sandbox:
        with sandbox.session() as one:
            one.run("x = 1; open('f', 'w').close()")
            one.snapshot()
        with sandbox.session() as two:
            assert two.run("import os; x").outcome is Outcome.RAISED
            assert shown(two, "os.listdir()") == "[]"
        three = sandbox.session()
    with pytest.raises(SessionEnded, match="closed"):
        three.run("1")
