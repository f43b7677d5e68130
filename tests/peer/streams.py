"""What children really say, recorded, and changed as a hostile one would."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from deskcheck.recording.block import MAGIC
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Mode, Program
from deskcheck.recording.rules import Checker
from deskcheck.sandbox import Checked, Sandbox, Tracing
from deskcheck.sandbox.decoder import Decoder, end_of_command, suite_message
from deskcheck.sandbox.inside.channel import Forged, sender

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
_NAMES = ("values_aliasing", "generator_pipeline", "exception_chains", "threads_take_turns", "values_cycles")
_KEY = bytes(range(32))
_DEEP = b"[" * 5000

Message = bytes
Stream = list[Message]
"""The messages of one run, in order."""


def recorded() -> dict[str, list[Stream]]:
    """Streams of real runs: of programs, traced and not, by both tracers, of calls, of sessions."""
    found: dict[str, list[Stream]] = {"traced": [], "plain": [], "answers": [], "session": []}
    heard: Stream = []
    read = Decoder._read

    def listen(self: Decoder, message: bytes | bytearray) -> Any:
        if not self.asks:  # the check, which runs beside what it judges
            heard.append(bytes(message))
        return read(self, message)

    def take(kind: str) -> None:
        found[kind].append([*heard])
        heard.clear()

    with mock.patch.object(Decoder, "_read", listen), Sandbox("standard", workers=1) as sandbox:
        for name in _NAMES:
            program = Program(id=name, code=(PROGRAMS / f"{name}.py").read_text())
            sandbox.run_one(program)
            take("plain")
            for tracer in (None, "reference"):
                sandbox.run_one(program, tracing=Tracing(lambda block: None, tracer=tracer))
                found["traced"].append(heard[:12] + heard[12:][-1:])
                heard.clear()
        call = Program(
            id="c", code="def f(n):\n    return [n] * n\n", mode=Mode.CALL, entry="f", arguments="(3,)"
        )
        sandbox.run_one(call, tracing=Tracing(lambda block: None))
        take("traced")
        sandbox.check_one(Checked(Program(id="a", code=call.code), "assert f(2) == [2, 2]", ("f",)))
        take("answers")
        with sandbox.session() as session:
            heard.clear()  # what it said when it began
            for code in ("x = [1, {'a': (2, 3.5)}]\nx", "1 / 0", "print('x')"):
                session.run(code)
                take("session")
    return found


def suite_messages() -> list[Message]:
    """As the process of a test suite writes them."""
    call = {
        **dict.fromkeys("module function file arguments form test seen stdout".split(), "x"),
        **dict.fromkeys("line time slot".split(), 1),
        "own": ["x"],
        "outcome": "returned",
        "result": "3",
        "result_builtin": True,
    }
    tested = {
        "test": "t",
        "cpu_s": 0.5,
        "left_out": {"a": 1},
        "functions": [["m", "f", 1, 2, ["d"], [1, 0, 0, 0]]],
    }
    collected = {"tests": 3, "packages": {"a": "1"}, "interpreter": {"python": "3"}, "cpu_s": 1.0}
    told: list[tuple[str, dict[str, Any]]] = [
        ("call", call),
        ("tested", tested),
        ("collected", collected),
        ("test", {"test": "t", "outcome": "passed"}),
        ("module", {"label": "a", "name": "a", "file": "a.py"}),
        ("no pytest", {}),
    ]
    found = []
    for kind, facts in told:
        body = json.dumps(facts).encode()
        block = MAGIC if kind == "call" else b""
        tail = len(block).to_bytes(4, "big") + block if block else b""
        found.append(f"{kind} {len(body)}\n".encode() + body + tail)
    return found


# -- changes -----------------------------------------------------------------------------------------


def _any_json(draw: random.Random, depth: int = 3) -> Any:
    kind = draw.randrange(9 if depth else 6)
    match kind:
        case 0:
            return None
        case 1:
            return draw.random() < 0.5
        case 2:
            return draw.choice([0, -1, 1, 2**31, 2**63, 2**64, 10**30])
        case 3:
            return draw.choice([0.0, -0.5, 1e300])
        case 4 | 5:
            return draw.choice(["", "x", "returned", "kind", "list", "\u00e9", "\ud800", "ref", "9" * 50])
        case 6:
            return [_any_json(draw, depth - 1) for _ in range(draw.randrange(4))]
        case 7:
            words = (
                "ref",
                "tuple",
                "kind",
                "type",
                "items",
                "fields",
                "splice",
                "1",
                "outcome",
                "detail",
                "cut",
            )
            return {draw.choice(words): _any_json(draw, depth - 1) for _ in range(draw.randrange(4))}
    return {"ref": draw.randrange(9)}


def _elsewhere(draw: random.Random, told: Any) -> Any:
    """A JSON value with one part replaced by any other."""
    if draw.random() < 0.3 or not isinstance(told, (list, dict)) or not told:
        return _any_json(draw)
    if isinstance(told, list):
        number = draw.randrange(len(told))
        return [*told[:number], _elsewhere(draw, told[number]), *told[number + 1 :]]
    key = draw.choice([*told])
    if draw.random() < 0.1:
        return {name: part for name, part in told.items() if name != key}
    return {**told, key: _elsewhere(draw, told[key])}


def changed(draw: random.Random, message: Message) -> Message:
    """A message, changed in one of many ways; its kind stays as a rule."""
    head, _, body = message.partition(b" ")
    match draw.randrange(9):
        case 0:
            return message[: draw.randrange(len(message) + 1)]
        case 1:
            at = draw.randrange(len(message) + 1)
            return message[:at] + draw.randbytes(draw.randrange(1, 6)) + message[at:]
        case 2:
            at = draw.randrange(len(message) + 1)
            return message[:at] + draw.randbytes(1) + message[at + 1 :]
        case 3:
            a, b = sorted((draw.randrange(len(message) + 1), draw.randrange(len(message) + 1)))
            return message[:b] + message[a:b] + message[b:]
        case 4:
            at = draw.randrange(len(message) + 1)
            word = draw.choice(
                [_DEEP, b"null", b"NaN", b'{"a":' * 300, b"\xff", b'"', b"9" * 5000, b"\\ud800", b"\x80" * 12]
            )
            return message[:at] + word + message[at:]
        case 5:
            return head + b" " + draw.randbytes(draw.randrange(20))
        case 6:
            return draw.choice([b"end ", b"failed ", b"ask ", b"answer ", b"[", MAGIC, b"ready", b""]) + body
    for prefix in (b"end ", b"failed ", b""):
        if message.startswith(prefix):
            try:
                told = json.loads(message[len(prefix) :])
            except (ValueError, UnicodeDecodeError):
                break
            return prefix + json.dumps(_elsewhere(draw, told)).encode()
    return draw.randbytes(draw.randrange(64))


def framed(stream: Stream, key: bytes = _KEY) -> bytes:
    """The bytes that the sender writes."""
    written = bytearray()

    def write(descriptor: int, data: memoryview) -> int:
        written.extend(data)
        return len(data)

    send = sender(0, key, write=write)
    for message in stream:
        send(message)
    return bytes(written)


def hear(kind: str, data: bytes, cut: Callable[[int], int] = lambda size: size) -> None:
    """Give bytes to a decoder of that kind, in pieces. Raises Forged and nothing else, or the decoder is wrong."""
    decoder = Decoder(_KEY, traced=kind == "traced", session=kind == "session", answers=kind == "answers")
    decoder.owed = 2
    at = 0
    while at < len(data):
        size = max(1, cut(len(data) - at))
        for said in decoder.feed(data[at : at + size]):
            if said.kind == "end":
                assert said.content["outcome"] in set(Outcome)
                repr(said.content.get("value"))
        at += size


def one(draw: random.Random, streams: dict[str, list[Stream]], suite: list[Message]) -> int:
    """Try one hostile child; how many messages or pieces of bytes it sent. Raises what is wrong."""
    way = draw.randrange(8)
    try:
        if way == 0:
            suite_message(changed(draw, draw.choice(suite)), by_us=draw.random() < 0.5)
            return 1
        if way == 1:
            end_of_command(changed(draw, b'[2, "No such file or directory", "x"]'))
            return 1
        kind = draw.choice([*streams])
        stream = [*draw.choice(streams[kind])]
        if way == 2:  # without the key: the bytes on the channel are changed
            data = framed(stream[:3])
            hear(kind, changed(draw, data), lambda size: draw.randrange(1, 4096))
            return 1
        if way == 3:  # a false length
            data = draw.randrange(1 << 32).to_bytes(4, "big") + draw.randbytes(16) + b"x" * draw.randrange(99)
            hear(kind, data)
            return 1
        if way == 4 and len(stream) > 1:
            a, b = draw.randrange(len(stream)), draw.randrange(len(stream))
            stream[a], stream[b] = stream[b], stream[a]
        elif way == 5:
            stream.insert(draw.randrange(len(stream) + 1), draw.choice(stream))
        else:
            number = draw.randrange(len(stream))
            stream[number] = changed(draw, stream[number])
        hear(kind, framed(stream))
        return len(stream)
    except Forged:
        return 1


def block(draw: random.Random, blocks: list[bytes], new: Callable[[], Any] = Checker) -> None:
    """Try one changed block of events. Raises what is wrong."""
    try:
        new().block(changed(draw, draw.choice(blocks)))
    except (ValueError, OverflowError):
        return


def blocks_of(streams: dict[str, list[Stream]]) -> list[bytes]:
    found = [each for stream in streams["traced"] for each in stream if each.startswith((MAGIC, b"["))]
    return [each for each in found if len(each) < 4000] or found
