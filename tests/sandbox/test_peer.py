"""A child that breaks the protocol ends as such: never as one that returned, and never as an error of ours."""

import functools
import gc
import itertools
import random
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Outcome, Program
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox import Checked, Confinement, Limits, Sandbox, Tracing
from deskcheck.sandbox.decoder import Decoder
from deskcheck.sandbox.inside.channel import PART_BYTES, Forged, Receiver, TooLong, sender
from tests.command import deskcheck
from tests.peer import streams
from tests.peer.channel import FIND
from tests.sample import examples, spread

FORMS = {
    "a list": b"end []",
    "nothing": b"end {}",
    "deep": b"end " + b"[" * 100_000,
    "a number": b'end {"outcome": 5, "cpu_s": 0}',
    "an outcome of ours": b'end {"outcome": "harness_error", "cpu_s": 0}',
    "imported": b'end {"outcome": "returned", "cpu_s": 0, "imported": 5}',
    "lists imported": b'end {"outcome": "returned", "cpu_s": 0, "imported": [[]]}',
    "sources": b'end {"outcome": "returned", "cpu_s": 0, "sources": {"a": 5}}',
    "bytes": b"end \xff",
    "NaN": b'end {"outcome": "returned", "cpu_s": NaN}',
    "a value": b'end {"outcome": "returned", "cpu_s": 0, "value": 5}',
    "failed 5": b"failed 5",
    "failed": b'failed {"exception": "x", "detail": "y"}',
    "ready": b"ready",
    "a row": b"[" * 50_000,
    "a block": b"\xdcK\x01xxxx",
    "an answer": b'answer ["returned", 1, []]',
    "no message": b"",
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Confinement.STANDARD, workers=1, limits=Limits(cpu_s=10)) as found:
        yield found


@pytest.mark.parametrize("form", spread(FORMS, 8))
def test_every_way_to_run_a_program(sandbox: Sandbox, form: str) -> None:
    """Whatever a program says in the recorder's name, `run`, `run_one`, recording and `check_one` go on."""
    code = f"{FIND}\nsend({FORMS[form]!r})\nimport os\nos._exit(0)\n"
    program = Program(id="p", code=code)
    endings = [
        next(iter(sandbox.run([program]))).run_result,
        sandbox.run_one(program),
        sandbox.run_one(program, tracing=Tracing(lambda block: None)),
        sandbox.check_one(Checked(program, "assert f() == 1", ("f",))),
    ]
    for run_result in endings[:-1]:
        assert run_result.outcome in (Outcome.KILLED, Outcome.EXITED)
    # A check may read what looks like an answer before it sees that nobody asked.
    assert endings[-1].outcome in (Outcome.KILLED, Outcome.EXITED, Outcome.WRONG)
    assert "it wrote to the recorder's channel" in endings[0].detail
    assert sandbox.run_one(Program(id="next", code="print(1)")).stdout == "1\n"


def test_a_session(sandbox: Sandbox) -> None:
    """A piece that does so ends its interpreter, not the caller."""
    for form in ("a list", "deep", "a row", "an outcome of ours"):
        with sandbox.session() as session:
            piece = session.run(f"{FIND}\nsend({FORMS[form]!r})\nimport time\ntime.sleep(20)")
            assert piece.outcome is Outcome.KILLED
            assert "it wrote to the session's channel" in piece.run_result.detail


def test_a_value_that_is_none(sandbox: Sandbox) -> None:
    """What a piece says that its value is, is looked at before it is one."""
    for value in (b"5", b'[{"ref": 1}, {}]', b'[{"tuple": 5}, {}]', b'[null, {"x": 5}]'):
        told = b'end {"outcome": "returned", "cpu_s": 0, "value": ' + value + b"}"
        with sandbox.session() as session:
            piece = session.run(f"{FIND}\nsend({told!r})\nimport time\ntime.sleep(20)")
            assert piece.outcome is Outcome.KILLED


@pytest.mark.slow
def test_a_long_value_is_cut(sandbox: Sandbox) -> None:
    """An honest piece whose value is more than is taken: it has returned, and the value says that it is cut."""
    with sandbox.session() as session:
        piece = session.run("[['x' * 9000 + chr(n)] * 3 for n in range(1000)]")
        assert piece.outcome is Outcome.RETURNED
        assert piece.value is not None
        assert not piece.value.whole


FORGER = (
    FIND
    + """
def number(value):
    found = b""
    while value >= 0x80:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])
def text(data):
    return number(len(data)) + data
index = 1000
while True:
    try:
        send(b"\\xdcK\\x01" + bytes([0x31]) + number(0) + number(index) + number(0) + number(0)
             + text(b"f") + text(b"program.py") + number(1) + number(1) + b"\\x01" + text(b"[" * 5000))
    except OSError:
        break
    index -= 1
    if index < 0:
        break
"""
)


@pytest.mark.exhaustive
def test_a_forged_block_does_not_reach_the_folder(tmp_path: Path) -> None:
    """The program is killed for it, the others are recorded, and what reads the folder goes on."""
    programs = [
        Program(id="good", code="x = 1\n"),
        Program(id="forger", code=FORGER),
        Program(id="better", code="y = 2\n"),
    ]
    summary = record_programs(
        programs, tmp_path / "runs", RecordSettings(repeat=False, sandbox=Confinement.STANDARD)
    )
    assert summary.by_outcome == {"returned": 2, "killed": 1}
    for recording in Recordings(tmp_path / "runs"):
        for event in recording.trace:
            repr(event.globals)
    for command in (("runs", "check", "runs"), ("view", "runs"), ("runs", "show", "runs", "forger")):
        done = deskcheck(*command, cwd=tmp_path)
        assert done.returncode in (0, 1), done.stderr


def test_a_list_in_a_list_in_a_list(sandbox: Sandbox) -> None:
    """An honest program whose data are deeper than any reader can follow: shown, and cut."""
    blocks: list[bytes] = []
    code = "x = None\nfor i in range(600):\n    x = [x]\n"
    assert (
        sandbox.run_one(Program(id="p", code=code), tracing=Tracing(blocks.append)).outcome
        is Outcome.RETURNED
    )
    from deskcheck.recording.block import rows
    from deskcheck.recording.trace import Trace, fingerprint

    last = Trace([row for block in blocks for row in rows(block)])[-1]
    assert not last.locals["x"].whole
    assert len(repr(last.locals["x"])) > 100
    assert fingerprint(last.state)


# -- the decoder by itself ---------------------------------------------------------------------------


@functools.cache
def recorded() -> dict[str, list[streams.Stream]]:
    found = streams.recorded()
    return {
        kind: [stream for stream in each if sum(map(len, stream)) < 20_000] or each[:1]
        for kind, each in found.items()
    }


@settings(max_examples=examples(50), deadline=None)
@given(seed=st.integers(0, 2**64))
def test_a_changed_stream(seed: int) -> None:
    """Cut, swapped, repeated, with other bytes, lengths and values: it is taken or it is forged."""
    draw = random.Random(seed)
    streams.one(draw, recorded(), streams.suite_messages())
    streams.block(draw, streams.blocks_of(recorded()))


def test_what_is_recorded_is_taken() -> None:
    """The streams that are changed are right ones, in whatever pieces they come."""
    for kind, found in recorded().items():
        for stream in found:
            for size in (1, 100, 1 << 16):
                if size > 1 or sum(map(len, stream)) < 5000:
                    streams.hear(kind, streams.framed(stream), lambda left, size=size: min(left, size))  # type: ignore[misc]


def test_a_decoder_goes_when_nobody_has_it() -> None:
    """With the tables of objects that it keeps of each trace: it does not wait for the garbage collector."""
    decoder = Decoder(b"k" * 32, traced=True)
    list(decoder.feed(streams.framed([b"ready"], b"k" * 32)))
    gone = weakref.ref(decoder)
    gc.disable()
    try:
        del decoder
        assert gone() is None
    finally:
        gc.enable()


def test_nothing_large_is_kept_of_one_without_the_key() -> None:
    """A length is believed up to one part; what follows must carry the key before more is taken."""
    receiver = Receiver(b"k" * 32, lambda begins: 1 << 30)
    with pytest.raises(Forged, match="a part of 1073741823 bytes"):
        list(receiver.feed(b"\x3f\xff\xff\xff" + bytes(16)))
    receiver = Receiver(b"k" * 32, lambda begins: 1 << 30)
    head = (PART_BYTES | 1 << 31).to_bytes(4, "big") + bytes(16)
    with pytest.raises(Forged, match="part 0 does not carry the key"):
        list(receiver.feed(head + bytes(PART_BYTES)))


def test_a_message_in_parts() -> None:
    """A long message comes whole; one that is longer than its kind may be is refused part by part."""
    written = bytearray()

    def write(descriptor: int, data: memoryview) -> int:
        written.extend(data)
        return len(data)

    send = sender(0, b"k" * 32, write=write)
    message = bytes(range(256)) * 4000
    send(message)
    send(b"x")
    assert list(Receiver(b"k" * 32, lambda begins: 1 << 30).feed(bytes(written))) == [message, b"x"]
    with pytest.raises(TooLong, match="a message of more than 200000 bytes"):
        list(Receiver(b"k" * 32, lambda begins: 200_000).feed(bytes(written)))


GROWS = """
import sys
from deskcheck.recording import Program
from deskcheck.sandbox import Limits, Sandbox, Tracing
way, code = sys.argv[1:]
def filled(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) >> 10 for line in file if line.startswith(name))
with Sandbox("standard", workers=1, limits=Limits(cpu_s=4, wall_s=20)) as sandbox:
    sandbox.run_one(Program(id="warm", code="x = 1"), tracing=Tracing(len))
    before = filled("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    if way == "session":
        with sandbox.session() as session:
            outcome = session.run(code).outcome
    else:
        outcome = sandbox.run_one(Program(id="p", code=code), tracing=Tracing(len) if way == "traced" else None).outcome
    print(outcome, filled("VmHWM") - before)
"""
LONG = {
    "blocks": "for index in range(10 ** 6):\n    send(b'[' + b' ' * (7 << 20))\n",
    "an end": "send(b'end ' + b' ' * (100 << 20))\n",
    "an end of lists": 'send(b\'end {"imported": [\' + b"[]," * 1_300_000 + b"]}")\n',
    "output": "import os\nwhile True:\n    os.write(1, bytes(1 << 20))\n",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "what"),
    [
        pytest.param(way, what, marks=[pytest.mark.exhaustive] * (n % 5 > 0))
        for n, (way, what) in enumerate(itertools.product(["plain", "traced", "session"], LONG))
    ],
)
def test_the_caller_does_not_grow(way: str, what: str) -> None:
    """Beside a program that says as much as it can, with the key, by no more than 40 MB."""
    done = subprocess.run(
        [sys.executable, "-c", GROWS, way, FIND + LONG[what]],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tempfile.gettempdir(),
    )
    assert done.returncode == 0, done.stderr
    outcome, grown = done.stdout.split()
    assert outcome != Outcome.RETURNED
    assert int(grown) <= 40


def test_messages_before_a_false_part_are_given() -> None:
    """Also where they come together; so what is known of a program that forges does not hang on the moment."""
    data = streams.framed([b"one", b"two"], b"k" * 32) + b"\xff" * 100
    given = Receiver(b"k" * 32, lambda begins: 100).feed(data)
    assert [next(given), next(given)] == [b"one", b"two"]
    with pytest.raises(Forged):
        next(given)
