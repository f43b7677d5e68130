"""Kernels: cells that end in every way, at every level of confinement."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from deskcheck.notebook.kernel.kernel import Kernel
from deskcheck.notebook.state.capture import StateLimits
from deskcheck.notebook.trajectory.trajectory import Execution, Status
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits

pytest.importorskip("ipykernel", reason="would have proved what kernels do with cells that misbehave")

LIMITS = Limits(cpu_s=200, wall_s=1000, memory_bytes=2 << 30, output_bytes=64 << 20)


@pytest.fixture(
    scope="module",
    params=["strict", *(pytest.param(level, marks=pytest.mark.slow) for level in ("standard", "trusted"))],
)
def kernel(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    with Kernel(
        confinement=Confinement(request.param), limits=LIMITS, state=StateLimits(time_s=60)
    ) as kernel:
        yield kernel


@pytest.fixture(autouse=True)
def living(kernel: Kernel) -> Iterator[None]:
    yield
    if not kernel.alive:
        kernel.restart()


class TestCells:
    def test_a_cell(self, kernel: Kernel) -> None:
        """Outputs in order, count, figures and state."""
        ran = kernel.run("kept = [1]\nprint('out')\nkept")
        assert ran.status is Status.OK
        assert [(o.type, o.text, o.data) for o in ran.outputs] == [
            ("stream", "out\n", {}),
            ("execute_result", None, {"text/plain": "[1]"}),
        ]
        assert ran.count == ran.outputs[1].count
        assert ran.wall_s is not None
        assert ran.cpu_s is not None
        assert ran.at is not None
        assert ran.end is not None
        assert ran.at < ran.end
        assert ran.state is not None
        assert ran.state["variables"]["kept"]["change"] in ("added", "rebound")
        assert "kept" in kernel.run("kept.append(2)").state["variables"]  # type: ignore[index]

    def test_memory(self, kernel: Kernel) -> None:
        """The most that a cell held is seen, though it is gone at its end."""
        ran = kernel.run("x = b'x' * 100_000_000\ndel x")
        if ran.memory_peak is None:
            pytest.skip("the peak cannot be set back here: would have proved that it is each cell's own")
        assert ran.memory_before is not None
        assert ran.memory_peak - ran.memory_before > 90_000_000
        after = kernel.run("1")
        assert after.memory_peak is not None
        assert after.memory_peak < ran.memory_peak - 50_000_000

    def test_an_error_and_an_interrupt(self, kernel: Kernel) -> None:
        """An exception is an error; a cell that is stopped by the user is interrupted; the kernel goes on."""
        ran = kernel.run("1/0")
        assert ran.status is Status.ERROR
        assert ran.outputs[-1].name == "ZeroDivisionError"
        asked = iter([False, True])
        ran = kernel.run("import time\nwhile True: time.sleep(0.01)", interrupted=lambda: next(asked, True))
        assert ran.status is Status.INTERRUPTED
        assert kernel.run("1").status is Status.OK

    def test_an_interrupt_is_for_one_cell(self, kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
        """Those that a cell no longer needs do not reach the next one."""
        ask = kernel.interrupt

        def often() -> None:
            for _ in range(60):
                ask()

        monkeypatch.setattr(kernel, "interrupt", often)
        for _ in range(3):
            ran = kernel.run("while True: pass", cell_s=0.2)
            assert ran.status is Status.TIMED_OUT
            ran = kernel.run("import time\nfor _ in range(50): time.sleep(0.01)\n'whole'")
            assert ran.status is Status.OK, ran
            assert ran.outputs[-1].data == {"text/plain": "'whole'"}

    def test_no_end(self, kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
        """A cell beyond its time is stopped with what it printed; one that takes no notice loses its kernel."""
        ran = kernel.run("print('begun')\nwhile True: pass", cell_s=1)
        assert (ran.status, ran.detail) == (Status.TIMED_OUT, "more than 1 s")
        assert ran.outputs[0].text == "begun\n"
        assert kernel.alive
        monkeypatch.setattr("deskcheck.notebook.kernel.cell._STOP_S", 0.5)  # of 20
        deaf = (
            "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(0.1)"
        )
        ran = kernel.run(deaf, cell_s=0.5)
        assert ran.status is Status.TIMED_OUT
        assert ran.detail == "more than 0.5 s; it ignored an interrupt"
        assert not kernel.alive

    def test_input_is_refused(self, kernel: Kernel) -> None:
        """Nobody is there to answer."""
        ran = kernel.run("input('name? ')")
        assert ran.status is Status.ERROR, ran
        assert [output.name for output in ran.outputs] == ["StdinNotImplementedError"], ran

    @pytest.mark.parametrize(
        ("source", "detail"),
        [
            ("import os\nos._exit(3)", "exited: status 3"),
            ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "killed: SIGKILL"),
            ("import ctypes\nctypes.string_at(0)", "killed: SIGSEGV"),
        ],
    )
    def test_death(self, kernel: Kernel, source: str, detail: str) -> None:
        """A kernel that ends is noticed at once, and how; what was printed before is there."""
        ran = kernel.run(f"import sys\nprint('last words')\nsys.stdout.flush()\n{source}")
        assert ran.status is Status.DIED
        assert ran.detail is not None
        assert ran.detail.startswith(detail)
        assert not kernel.alive
        kernel.restart()
        assert kernel.run("print('again')").outputs[0].text == "again\n"

    @pytest.mark.slow
    def test_memory_beyond_the_limit(self, kernel: Kernel) -> None:
        """Python can say so itself; a kernel whose processes fill the limit together is ended, and it is said."""
        ran = kernel.run("x = bytes(3 << 30)")
        assert (ran.status, ran.outputs[-1].name) == (Status.ERROR, "MemoryError")
        together = "import os\nfor _ in range(4):\n    if not os.fork():\n        x = b'x' * (700 << 20)\n        while True: pass\nimport time\ntime.sleep(60)"
        ran = kernel.run(together)
        assert ran.status is Status.OUT_OF_MEMORY

    def test_forked_children(self, kernel: Kernel) -> None:
        """A child ends with its cell; what it prints is shown; the kernel is the parent still."""
        ran = kernel.run(
            "import os\nchild = os.fork()\nprint('child' if not child else 'parent')\nif child: _ = os.waitpid(child, 0)"
        )
        assert ran.status is Status.OK
        text = "".join(o.text or "" for o in ran.outputs)  # the two write at once: perhaps in the same line
        assert sorted(text.replace("child", " child ").split()) == ["child", "parent"]
        assert kernel.run("child > 0").outputs[0].data["text/plain"] == "True"

    def test_a_flood(self, kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
        """100 MB of output are counted, and kept up to the limit."""
        ran = kernel.run("for _ in range(100): print('x' * 1_000_000)", output_chars=5000)
        assert ran.status is Status.OK
        assert sum(len(o.text or "") for o in ran.outputs) == 5000
        assert sum(o.length or 0 for o in ran.outputs) == 100_000_100, ran.outputs
        monkeypatch.setattr("deskcheck.notebook.kernel.cell._OUTPUTS", 50)
        ran = kernel.run("for n in range(300): display(n)")
        assert ran.status is Status.OK
        assert len(ran.outputs) < 200

    def test_displays(self, kernel: Kernel) -> None:
        """Clearing and updating are recorded as they came; `shown` is what is left."""
        ran = kernel.run(
            "from IPython.display import clear_output\nprint('a')\nclear_output()\n"
            "shown = display(1, display_id='d')\nshown.update(2)"
        )
        assert [o.type for o in ran.outputs] == "stream clear_output display_data update_display_data".split()
        step = Execution(cell="c", source="", order=("c",), status=ran.status, outputs=ran.outputs)
        assert [o.data for o in step.shown()] == [{"text/plain": "2"}]

    def test_commands(self, kernel: Kernel) -> None:
        """What other programs print is part of the output."""
        ran = kernel.run("!echo one\nimport subprocess\n_ = subprocess.run(['echo', 'two'])")
        assert "".join(o.text or "" for o in ran.outputs).split() == ["one", "two"]

    def test_the_world_outside(self, kernel: Kernel) -> None:
        """No socket, no connection, no file of the user's, no other process; by none of the kernel's threads."""
        if kernel.confinement is Confinement.TRUSTED:
            pytest.skip("trusted cells may do what the user may")
        source = """
import socket, threading
def attempt(what):
    try: what()
    except OSError as error: found.append(type(error).__name__)
    else: found.append('done')
found = []
attempts = [
    lambda: socket.socket(),
    lambda: socket.socket(socket.AF_UNIX),
    lambda: open('/etc/passwd').read(),
    lambda: open('/forbidden', 'w'),
]
for each in attempts: attempt(each)
thread = threading.Thread(target=lambda: attempt(attempts[0])); thread.start(); thread.join()
import asyncio
found
"""
        ran = kernel.run(source)
        assert ran.status is Status.OK, ran.outputs
        assert "done" not in ran.outputs[-1].data["text/plain"]
        assert ran.outputs[-1].data["text/plain"].count("Error") == 5
        statuses = [path.read_text() for path in Path(f"/proc/{kernel._pid}/task").glob("*/status")]
        filters = [
            next(line for line in text.splitlines() if line.startswith("Seccomp_filters"))
            for text in statuses
        ]
        assert len(filters) > 3
        assert min(int(line.split()[1]) for line in filters) >= 2


def test_a_kernel_that_does_not_start_says_why(tmp_path: object) -> None:
    """With too little memory to import anything, the error is ours and names it."""
    from deskcheck.errors import SandboxError

    small = Limits(cpu_s=60, wall_s=60, memory_bytes=64 << 20)
    with pytest.raises(SandboxError), Kernel(confinement=Confinement.TRUSTED, limits=small):
        pass
