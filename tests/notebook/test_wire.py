"""A kernel that breaks Jupyter's protocol ends as such; its notebook goes on in another."""

import random
import struct
from collections.abc import Iterator

import pytest

pytest.importorskip("ipykernel", reason="would have proved what a hostile kernel can do to the recorder")

from deskcheck.notebook.kernel.kernel import Kernel
from deskcheck.notebook.kernel.wire import Connection
from deskcheck.notebook.trajectory.trajectory import Status
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.decoder import WIRE_BYTES, Forged, kernel_message
from deskcheck.sandbox.limits import Limits

_APP = "from ipykernel.kernelapp import IPKernelApp\napp = IPKernelApp.instance()\nimport zmq\n"
_OUT = "out = getattr(app.iopub_socket, 'socket', app.iopub_socket)\n"
CELLS = {
    "a stream without a name": f"{_APP}app.session.send(app.iopub_socket, 'stream', {{'text': 'x'}})",
    "a stream of numbers": f"{_APP}app.session.send(app.iopub_socket, 'stream', {{'name': 'stdout', 'text': 5}})",
    "a result without data": f"{_APP}app.session.send(app.iopub_socket, 'execute_result', {{'data': 5}})",
    "raw frames": f"{_APP}{_OUT}app.iopub_thread.send_multipart([b'nothing', b'of', b'ours'])",
    "a wrong key": f"{_APP}app.session.key = b'x' * 64\nprint(1)",
    "many frames": f"{_APP}app.iopub_thread.send_multipart([b'x'] * 100_000)",
    "a long frame": f"{_APP}app.iopub_thread.send_multipart([b'x' * (300 << 20)])",
}


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with Kernel(
        confinement=Confinement.STANDARD, limits=Limits(cpu_s=60, wall_s=600, memory_bytes=4 << 30)
    ) as found:
        yield found


LONG = {"a wrong key", "many frames", "a long frame"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in CELLS]
)
def test_a_cell_that_speaks_for_its_kernel(kernel: Kernel, name: str) -> None:
    """It has died, with a word; the next kernel runs the next cell."""
    ran = kernel.run(CELLS[name], cell_s=20)
    for _ in range(100):  # what it sent may arrive after its reply
        if ran.status is not Status.OK:
            break
        ran = kernel.run("import time; time.sleep(0.1)", cell_s=20)
    assert ran.status is Status.DIED
    assert "it wrote to the kernel's sockets" in (ran.detail or "")
    kernel.restart()
    assert kernel.run("1 + 1").status is Status.OK


def test_what_is_too_long_is_cut_by_our_own(kernel: Kernel) -> None:
    """An honest cell that prints, shows or raises more than a message holds."""
    if not kernel.alive:
        kernel.restart()
    ran = kernel.run("print('x' * 5_000_000, end='')", output_chars=3 << 20)
    assert [(len(o.text or ""), o.length) for o in ran.outputs] == [(3 << 20, 5_000_000)]
    ran = kernel.run("raise ValueError('x' * 20_000_000)", output_chars=3 << 20)
    assert ran.status is Status.ERROR
    ran = kernel.run("from IPython.display import HTML\nHTML('x' * 20_000_000)", output_chars=3 << 20)
    assert ran.status is Status.OK
    assert (ran.outputs[0].length or 0) >= 20_000_000


def connection() -> Connection:
    """One that nobody is at the other end of."""
    made = object.__new__(Connection)
    made._key, made._buffer, made._frames, made._size = b"k", bytearray(), [], 0
    from collections import deque

    made._messages = deque()
    return made


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (bytes([2]) + struct.pack(">Q", 1 << 40), "a message of more than"),
        (bytes([3]) + struct.pack(">Q", WIRE_BYTES + 1), "a message of more than"),
        (b"\1\0" * 100, "a message of more than 64 frames"),
        (b"\4\xff" + bytes(255) + bytes([6]) + struct.pack(">Q", 1 << 20), "a message of more than"),
        (b"\x10\0", "a frame of an unknown kind"),
    ],
)
def test_frames_that_are_none(data: bytes, why: str) -> None:
    """A length is looked at before what it is the length of."""
    with pytest.raises(Forged, match=why):
        connection().feed(data)


def test_any_bytes() -> None:
    """Whatever comes is a message or forged."""
    draw = random.Random(0)
    for _ in range(2000):
        there = connection()
        try:
            for _ in range(3):
                there.feed(draw.randbytes(draw.randrange(40)))
            for frames in there._messages:
                kernel_message(frames, b"k")
        except Forged:
            continue
