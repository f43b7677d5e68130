"""Attacks on who listens to a notebook's kernel: cells that have the session's key, and speak in its name.

`tests/notebook/test_wire.py` has frames and messages that are none. These are messages that are right by themselves: of
another request, replies to nobody, without end, and many that each hold as much as a message may.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ipykernel", reason="would have proved what a hostile kernel can do to the recorder")

from deskcheck.notebook.kernel.kernel import Kernel
from deskcheck.notebook.trajectory.trajectory import Status
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from tests.sample import some

SAY = """
import os, threading, time
from ipykernel.kernelapp import IPKernelApp
app = IPKernelApp.instance()
k = app.kernel
def tell(kind, content, parent=None):
    k.session.send(k.iopub_socket, kind, content, parent=k.get_parent("shell") if parent is None else parent)
def reply(content, parent=None, kind="execute_reply"):
    to = getattr(k, "shell_stream", None) or k.shell_socket
    ident = k._parent_ident["shell"]
    k.session.send(to, kind, content, parent=k.get_parent("shell") if parent is None else parent, ident=ident)
OTHER = {"header": {"msg_id": "another", "msg_type": "execute_request", "session": "x", "username": "", "date": "2026",
         "version": "5"}, "msg_id": "another", "msg_type": "execute_request"}
BIG = 900_000
"""
CELLS: dict[str, str] = tomllib.loads(Path(__file__).with_name("kernels.toml").read_text("utf-8"))["cells"]
DIES = ("a stream with a long name", "a long name of an output")
"""No message of Jupyter's: the kernel is ended."""
LARGE = ("streams of many names", "many errors", "metadata", "many kinds of data", "long kinds of data", "an error without end")  # fmt: skip
GROWN_KIB = 40_000


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with Kernel(
        confinement=Confinement.STANDARD, limits=Limits(cpu_s=60, wall_s=600, memory_bytes=4 << 30)
    ) as found:
        yield found


def filled() -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def assert_heard(kernel: Kernel, name: str) -> None:
    """The outputs of the cell alone are its own, the caller does not grow, and the next cell is answered."""
    if not kernel.alive:
        kernel.restart()
    Path("/proc/self/clear_refs").write_text("5")
    before = filled()
    ran = kernel.run(SAY + CELLS[name], cell_s=40)
    grown = filled() - before
    assert grown <= GROWN_KIB, f"{name}: {grown} KiB"
    if name in DIES:
        assert ran.status is Status.DIED
        assert "it wrote to the kernel's sockets" in (ran.detail or "")
        kernel.restart()
    elif name not in LARGE:
        assert ran.status is (Status.ERROR if name == "a status that is none" else Status.OK)
        told = "".join([output.text or "" for output in ran.outputs])  # a busy kernel sends it in parts
        # What comes after an end that the cell told is not waited for.
        assert told == "true\n" or (name == "an end, and goes on" and not told), f"{name}: {told}"
    assert kernel.run("40 + 2").outputs[0].data == {"text/plain": "42"}


OF_OTHERS = [name for name in CELLS if name not in (*LARGE, *DIES, "speaks on without an end")]


def test_messages_of_others_are_not_heard(kernel: Kernel) -> None:
    for name in OF_OTHERS:
        assert_heard(kernel, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", some([*LARGE, *DIES], "metadata", "many errors", "a stream with a long name")
)
def test_what_is_large_is_bounded(kernel: Kernel, name: str) -> None:
    assert_heard(kernel, name)


@pytest.mark.slow
def test_a_kernel_that_speaks_on_is_not_heard_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has answered, and never says that it is idle; each message once had the caller wait for another half
    minute."""
    monkeypatch.setattr("deskcheck.notebook.kernel.cell._LATE_S", 3.0)
    limits = Limits(cpu_s=60, wall_s=600, memory_bytes=4 << 30)
    with Kernel(confinement=Confinement.STANDARD, limits=limits) as kernel:
        monkeypatch.setattr("deskcheck.notebook.kernel.cell._EVER_S", 4.0)
        ran = kernel.run(SAY + CELLS["speaks on without an end"], cell_s=2)
    assert ran.at is not None
    assert ran.end is not None
    assert ran.end - ran.at < 60
    assert ran.detail == "outputs that did not arrive are missing"
