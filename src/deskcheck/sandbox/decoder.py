"""Reads the messages of child processes as those of a hostile peer.

All messages of programs, sessions, workspaces, test suites and notebook kernels come through this module. It
checks their size before it parses them, and their keys and types before others use them. A wrong message
raises `Forged`, which is an ending of the child, not an error of deskcheck. Whether a message is true is
decided elsewhere, by facts that the child cannot write.
"""

import functools
import hmac
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from deskcheck.recording.block import MAGIC, mirrored
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.rules import Checker, check_value
from deskcheck.recording.value import Value, decode
from deskcheck.sandbox.inside.channel import BLOCK_BYTES, CALL_BYTES, END_BYTES, END_PARTS, Receiver
from deskcheck.sandbox.inside.channel import Forged as Forged

TRACE_BYTES = 1 << 30
"""Largest size of all blocks of events of one run; the trace is cut there."""
SUITE_BYTES = 32 << 20
"""Largest size of a message from a test suite."""
SUITE_FACTS_BYTES, SUITE_KEPT_BYTES = 256 << 20, 8 << 30
"""Largest size of all messages of a test suite, without events and with them. Facts are kept in memory."""
_SUITE_PARTS = 1_000_000
BEYOND = "deskcheck_beyond"
"""Field of an output of a kernel: the amount that was omitted there."""
GOES_ON = "deskcheck_goes_on"
"""Field of a stream: whether it continues the previous message."""
CUT = "bytes"
"""The value of `RunResult.cut` in that case."""
_DEPTH = 60
WORD_BYTES = 1 << 16
"""Largest size of a short message."""
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_MARK = re.compile(rb"[\[\]{}]")


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


_JSON = json.JSONDecoder(parse_constant=_no_constant)
_PYTHONS_JSON = json.JSONDecoder()


def plain(
    data: bytes | bytearray,
    *,
    most_bytes: int = END_BYTES,
    parts: int = END_PARTS,
    depth: int = _DEPTH,
    decoder: json.JSONDecoder = _JSON,
) -> Any:
    """The value of a JSON text.

    Raises Forged if the text is not JSON or exceeds a limit: on bytes, on parts (values, names, lists,
    objects), or on nested lists. That happens before they use memory.
    """
    if len(data) > most_bytes:
        raise Forged(f"a message of more than {most_bytes} bytes")
    marks = _STRING.sub(b'"', data)
    opened = marks.count(b"[") + marks.count(b"{")
    if opened + marks.count(b",") + marks.count(b":") > parts:
        raise Forged(f"a message of more than {parts} parts")
    if opened > depth and _depth(marks) > depth:
        raise Forged(f"a message of more than {depth} lists inside one another")
    try:
        text = data.decode("utf-8")
        value, end = decoder.raw_decode(text)
    except (ValueError, RecursionError):
        raise Forged("a message that is not JSON") from None
    if end != len(text):
        raise Forged("more than one message")
    return value


def _depth(marks: bytes) -> int:
    deepest = depth = 0
    for mark in _MARK.finditer(marks):
        if mark[0] in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest


# -- shapes ----------------------------------------------------------------------------------------

Field = Callable[[Any], bool]
"""Says whether a value is allowed in a field."""


def is_text(value: Any) -> bool:
    return type(value) is str


def is_whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 53


def is_number(value: Any) -> bool:
    return type(value) in (int, float) and -1e18 < value < 1e18


def is_truth(value: Any) -> bool:
    return type(value) is bool


def is_one(value: Any) -> bool:
    """An object with any fields."""
    return type(value) is dict


def is_anything(value: Any) -> bool:
    return True


def one_of(*texts: str) -> Field:
    return lambda value: is_text(value) and value in texts


def maybe(field: Field) -> Field:
    return lambda value: value is None or field(value)


def many(field: Field) -> Field:
    return lambda value: type(value) is list and all(map(field, value))


def named(field: Field) -> Field:
    return lambda value: type(value) is dict and all(map(field, value.values()))


def row_of(*columns: Field) -> Field:
    return lambda value: (
        type(value) is list
        and len(value) == len(columns)
        and all(column(item) for column, item in zip(columns, value, strict=True))
    )


Fields = Mapping[str, Field]
"""The fields of an object, by name; one whose name ends with a question mark may be missing."""


def shaped(what: str, value: Any, fields: Fields) -> dict[str, Any]:
    """The value, which must be an object with only these fields. Raises Forged, with `what` it should be."""
    more = sorted(_checked(what, value, fields).keys() - {name.removesuffix("?") for name in fields})
    if more:
        raise Forged(f"{what} with {_short(more[0])}")
    return dict(value)


def _checked(what: str, value: Any, fields: Fields) -> dict[str, Any]:
    """The value, which must be an object with these fields and may have others. Raises Forged."""
    if type(value) is not dict:
        raise Forged(f"{what} that is not an object")
    for name, field in fields.items():
        key = name.removesuffix("?")
        if key not in value:
            if key == name:
                raise Forged(f"{what} without {name!r}")
        elif not field(value[key]):
            raise Forged(f"{what} whose {key!r} is {_short(value[key])}")
    return value


def _short(value: Any) -> str:
    """An arbitrary value, shortened for a message."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


# -- programs and sessions ---------------------------------------------------------------------------

_ENDINGS = frozenset({Outcome.RETURNED, Outcome.RAISED, Outcome.EXITED, Outcome.OUT_OF_MEMORY})
"""Outcomes that a process can report itself. The others are observed from outside."""
_RESULT: Fields = {
    **dict.fromkeys(("exception?", "detail?", "result?"), is_text),
    "result_builtin?": is_truth,
}
_END: Fields = {
    "outcome": one_of(*_ENDINGS),
    "cpu_s": is_number,
    "cut?": maybe(is_text),
    "failure?": maybe(is_text),
    "sources?": named(is_text),
    "loaded?": many(is_text),
    "imported?": many(is_text),
    "unopened?": many(row_of(is_text, is_truth)),
    "refused?": is_text,
    "reads?": many(is_text),
    **_RESULT,
    "value?": is_anything,
}
_FAILED: Fields = {"exception": is_text, "detail": is_text}


class Said(NamedTuple):
    """A message: its kind and its content, which is bytes for a block and for a call."""

    kind: Literal["block", "ready", "end", "failed", "ask", "answer"]
    content: Any


def _most_bytes(begins: bytes, *, traced: bool, session: bool, asks: bool, answers: bool) -> int:
    """The largest size of a message that begins with these bytes. Raises Forged if no message does."""
    if begins.startswith((b"[", MAGIC)) and traced:
        return BLOCK_BYTES
    if begins.startswith(b"end "):
        return 2 * END_BYTES if session else END_BYTES
    if (begins.startswith(b"ask ") and asks) or (begins.startswith(b"answer ") and answers):
        return CALL_BYTES
    if begins == b"ready" or begins.startswith(b"failed "):
        return WORD_BYTES
    raise Forged(f"a message that begins with {begins[:16]!r}")


class Decoder:
    """Reads all messages of a program, or of a piece of a session.

    `owed` counts the calls that the program has not answered.

    Args:
        traced: whether the program is recorded.
        session: whether it is a session, which sends nothing before it begins, and a value at its end.
        asks: whether the program calls another one (`inside.calling`).
        answers: whether another program calls this one.
        endless: whether events may be more than `TRACE_BYTES`.
    """

    def __init__(
        self,
        key: bytes,
        *,
        traced: bool,
        session: bool = False,
        asks: bool = False,
        answers: bool = False,
        endless: bool = False,
    ) -> None:
        self.ready = session
        self.ended = False
        self.owed = 0
        self.blocks = 0
        """Number of blocks that have arrived, also of those that were not passed on."""
        self.cut: str | None = None
        """Reason why no more events are passed on."""
        self._session = session
        self.asks = asks
        self._bytes_left = (1 << 62) if endless else TRACE_BYTES
        self._checker = Checker() if traced else None
        # Not of a method: a decoder that is part of a circle would wait for the collector, with all it holds.
        most_bytes = functools.partial(
            _most_bytes, traced=traced, session=session, asks=asks, answers=answers
        )
        self._receiver = Receiver(key, most_bytes)

    def feed(self, data: bytes) -> Iterator[Said]:
        """The messages that these bytes complete. Raises Forged at the first wrong one."""
        for message in self._receiver.feed(data):
            message_read = self._read(message)
            if message_read is not None:
                yield message_read

    def last(self, memory: bytes) -> bytes | None:
        """The events that a process had not sent when it ended (`block.mirrored`). Raises Forged."""
        block = mirrored(memory, self.blocks)
        return None if block is None or self.ended else self._events(block)

    def _read(self, message: bytes | bytearray) -> Said | None:
        if message == b"ready":
            if self.ready:
                raise Forged("a second beginning")
            self.ready = True
            return Said("ready", None)
        if message.startswith(b"failed "):
            if self.ready:
                raise Forged("an early failure after the beginning")
            return Said("failed", shaped("a failure", plain(message[7:]), _FAILED))
        if not self.ready:
            raise Forged("a message before the beginning")
        if message.startswith(b"end "):
            return Said("end", self._end(message))
        if message.startswith(b"ask "):
            return Said("ask", memoryview(message)[4:])
        if message.startswith(b"answer "):
            if not self.owed:
                raise Forged("an answer without a question")
            self.owed -= 1
            return Said("answer", memoryview(message)[7:])
        self.blocks += 1
        if self.ended:  # of a thread that runs on: nobody waits for it
            return None
        block = self._events(bytes(message))
        return None if block is None else Said("block", block)

    def _events(self, block: bytes) -> bytes | None:
        """The block, whose rows are checked; None if the trace was cut before."""
        if self._checker is None or self.cut is not None:
            return None
        self._bytes_left -= len(block)
        if self._bytes_left >= 0:
            try:
                self._checker.block(block)
            except OverflowError:
                self._bytes_left = -1
            except ValueError as error:
                raise Forged(f"malformed events: {error}") from None
        if self._bytes_left < 0:
            self.cut = CUT
            return None
        return block

    def _end(self, message: bytes | bytearray) -> dict[str, Any]:
        if self.ended:
            raise Forged("a second end")
        most_bytes = 2 * END_BYTES if self._session else END_BYTES
        end = shaped("an end", plain(message[4:], most_bytes=most_bytes, depth=300), _END)
        if end.get("failure") is not None and self._checker is None:
            raise Forged("a failure of a tracer, but no tracer runs")
        if "value" in end:
            if not self._session or end["outcome"] != Outcome.RETURNED:
                raise Forged("an end with a value that was not requested")
            end["value"] = _value(end["value"])
        self.ended = True
        return end


def end_of_command(data: bytes | bytearray) -> OSError:
    """The error that kept a command from starting, or a file from being read. Raises Forged."""
    error = plain(data, most_bytes=WORD_BYTES, parts=10)
    if not row_of(maybe(is_whole), maybe(is_text), maybe(is_text))(error):
        raise Forged("a malformed error")
    return OSError(*error)


def _value(snapshot: Any) -> Value:
    """The value of a piece, from its description by `snapshot`."""
    encoded, objects = snapshot if type(snapshot) is list and len(snapshot) == 2 else (None, None)
    if type(objects) is not dict:
        raise Forged("a malformed value")
    try:
        check_value(encoded, objects)
        return decode(encoded, {int(number): content for number, content in objects.items()})
    except (ValueError, KeyError) as error:
        raise Forged(f"a malformed value: {error}") from None


# -- test suites -------------------------------------------------------------------------------------


def _is_unicode(value: Any) -> bool:
    """A text without surrogates. Names and the results of `repr` have none."""
    return is_text(value) and _HALF.search(value) is None


def _is_file(value: Any) -> bool:
    """An absolute path of a file that the kernel accepts."""
    return (
        is_text(value) and value[:1] == "/" and "\0" not in value and not value.endswith(("/", "/.", "/.."))
    )


_HALF = re.compile("[\ud800-\udfff]")
_INTERPRETER = frozenset({"python", "implementation", "platform", "tracer"})
_SUITE: dict[str, Fields] = {
    "call": {
        **dict.fromkeys("test seen stdout".split(), is_text),
        **dict.fromkeys("module function arguments".split(), _is_unicode),
        "file": _is_file,
        "form": one_of("literal", "shown", "in part"),
        **dict.fromkeys("line time slot".split(), is_whole),
        "own": many(is_text),
        "functions": named(is_text),
        "numbers": maybe(named(many(lambda step: is_text(step) or is_whole(step)))),
        "needs": named(many(is_text)),
        "outcome": one_of(*_ENDINGS),
        **_RESULT,
    },
    "test": {"test": is_text, "outcome": is_text, "why?": is_text},
    "tested": {
        "test": is_text,
        "cpu_s": is_number,
        "left_out": named(is_whole),
        "functions": many(
            row_of(
                *(is_text, is_text, is_whole, is_whole, many(is_text)),
                row_of(is_whole, is_whole, is_whole, is_whole),
            )
        ),
    },
    "module": {"label": is_text, "name": is_text, "file": _is_file},
    "function": {**dict.fromkeys(("module", "function", "why_not"), is_text), "line": is_whole},
    "collected": {
        "tests": is_whole,
        "packages": named(is_text),
        "interpreter": lambda value: named(is_text)(value) and value.keys() == _INTERPRETER,
        "cpu_s": is_number,
    },
    "no pytest": {},
    "ended": {"ended": is_text},
}
_HEAD = re.compile(rb"([a-z ]{1,20}) ([0-9]{1,9})\n")


def suite_receiver(key: bytes) -> Receiver:
    """A receiver for the messages of a test suite; `suite_message` reads them."""
    return Receiver(key, lambda begins: SUITE_BYTES)


class SuiteMessage(NamedTuple):
    """A message of a test suite: its kind, its facts, and the position of its blocks of events."""

    kind: str
    facts: dict[str, Any]
    begins: int


def suite_message(
    message: bytes | bytearray, *, by_us: bool = False, checked: bool | None = None
) -> SuiteMessage:
    """A message of the process of a test suite, with valid blocks of events. Raises Forged.

    Args:
        by_us: allow messages that the caller adds itself.
        checked: whether its events have been checked before. By default, those of the caller have.
    """
    head = _HEAD.match(message)
    kind = head[1].decode() if head else ""
    if head is None or kind not in _SUITE or (kind == "ended" and not by_us):
        raise Forged(f"a message that begins with {bytes(message[:16])!r}")
    begins = head.end() + int(head[2])
    if begins > len(message):
        raise Forged("a message that ends too early")
    facts_read = plain(message[head.end() : begins], most_bytes=SUITE_BYTES, parts=_SUITE_PARTS)
    facts = shaped(kind, facts_read, _SUITE[kind])
    if kind != "call" and begins != len(message):
        raise Forged("events without a call")
    if not (by_us if checked is None else checked):
        checker = Checker()
        for block in blocks(message[begins:]):
            try:
                checker.block(block)
            except (ValueError, OverflowError) as error:
                raise Forged(f"malformed events: {error}") from None
    return SuiteMessage(kind, facts, begins)


def blocks(data: bytes | bytearray) -> list[bytes]:
    """Blocks of events from bytes, where each follows its length. Raises Forged."""
    events, position = [], 0
    while position < len(data):
        end = position + 4 + int.from_bytes(data[position : position + 4], "big")
        if end > len(data):
            raise Forged("a block that ends too early")
        events.append(bytes(data[position + 4 : end]))
        position = end
    return events


# -- notebook kernels --------------------------------------------------------------------------------

WIRE_BYTES = 8 << 20
"""Largest size of a message of a kernel. deskcheck's kernel splits outputs and omits larger parts."""
_WIRE_PARTS = 200_000
_DELIMITER = b"<IDS|MSG>"
_HEADER: Fields = {
    "msg_type": is_text,
    "msg_id": is_text,
    **dict.fromkeys(("session?", "username?", "date?", "version?", "subshell_id?"), maybe(is_text)),
}
_WORD_CHARS = 1000


def _is_word(value: Any) -> bool:
    return is_text(value) and len(value) <= _WORD_CHARS


_DATA: Fields = {
    "data": is_one,
    "metadata": is_one,
    "transient?": is_one,
    "execution_count?": maybe(is_whole),
    f"{BEYOND}?": is_whole,
}
_KERNEL: dict[str, Fields] = {
    "status": {"execution_state": is_text},
    "execute_input": {"code": is_text, "execution_count?": maybe(is_whole)},
    "stream": {"name": _is_word, "text": is_text, f"{GOES_ON}?": is_truth},
    "clear_output": {"wait?": is_truth},
    "error": {"ename": is_text, "evalue": is_text, "traceback": many(is_text), f"{BEYOND}?": is_whole},
    **dict.fromkeys(("execute_result", "display_data", "update_display_data"), _DATA),
}
_CHANGE = one_of("added", "rebound", "mutated")
_STATE: Fields = {
    "variables": named(is_one),
    "count": is_whole,
    "cost_s": is_number,
    "removed?": many(is_text),
    "unseen?": is_whole,
}
_VARIABLE: Fields = {
    "change": _CHANGE,
    "type": is_text,
    "hash": is_text,
    "value": is_anything,
    "objects?": is_one,
    "sampled?": is_truth,
    "length?": maybe(is_whole),
    "size_bytes?": maybe(is_whole),
    "size_method?": maybe(is_text),
    "described?": is_anything,
    "seen?": is_one,
}


def _is_state(state: Any) -> bool:
    """Whether a value describes the variables of a kernel (`notebook.state`)."""
    try:
        for variable in shaped("a state", state, _STATE)["variables"].values():
            shaped("a variable", variable, _VARIABLE)
            check_value(variable["value"], variable.get("objects", {}))
    except (Forged, ValueError):
        return False
    return True


_MEASURED: Fields = {
    "wall_s?": is_number,
    "cpu_s?": is_number,
    "state?": maybe(_is_state),
    "rule?": maybe(is_text),
    "missing?": maybe(is_text),
    "drew?": many(is_text),
    "draws?": maybe(is_whole),
}


def _is_measured(value: Any) -> bool:
    """Whether a value has the facts that deskcheck's kernel adds to Jupyter's own fields of a cell."""
    try:
        _checked("a measurement", value, _MEASURED)
    except Forged:
        return False
    return True


_REPLY: Fields = {
    "status?": maybe(is_text),
    "ename?": maybe(is_text),
    "execution_count?": maybe(is_whole),
    "deskcheck?": _is_measured,
}


class Message(NamedTuple):
    """A message of Jupyter's protocol. `parent` is the id of the request that it belongs to."""

    kind: str
    parent: str | None
    content: dict[str, Any]


def kernel_message(frames: Sequence[bytes], key: bytes) -> Message:
    """A message of a kernel, with the fields that its kind needs.

    The format is the *Wire protocol* of Jupyter's messaging specification. Raises Forged, also if the
    signature does not belong to the key.
    """
    try:
        position = [*frames].index(_DELIMITER)
    except ValueError:
        raise Forged("frames that do not form a message") from None
    if len(frames) < position + 6 or sum(map(len, frames)) > WIRE_BYTES:
        raise Forged("frames that do not form a message")
    signature, *parts = frames[position + 1 : position + 6]
    expected = hmac.new(key, digestmod="sha256")
    for part in parts:
        expected.update(part)
    if not hmac.compare_digest(expected.hexdigest().encode(), signature):
        raise Forged("a message with a wrong signature")
    head, parent, _, content = (
        plain(part, most_bytes=WIRE_BYTES, parts=_WIRE_PARTS, depth=100) for part in parts
    )
    kind = shaped("a header", head, _HEADER)["msg_type"]
    if type(parent) is not dict or not maybe(is_text)(parent.get("msg_id")):
        raise Forged("a malformed parent")
    return shown(kind, parent.get("msg_id"), content)


def shown(kind: str, parent: str | None, content: Any) -> Message:
    """A message from its parts, with the fields that its kind needs. Raises Forged."""
    _checked(f"a {kind}", content, _REPLY if kind == "execute_reply" else _KERNEL.get(kind, {}))
    transient = content.get("transient", {}) if kind in _KERNEL else {}
    if not maybe(_is_word)(transient.get("display_id")):
        raise Forged(f"a {kind} with a malformed 'display_id'")
    return Message(kind, parent, content)


# -- cells that are tried out --------------------------------------------------------------------------

_OUTPUT: Fields = {
    "type": is_text,
    **dict.fromkeys(("name?", "text?", "value?", "display_id?"), maybe(is_text)),
    **dict.fromkeys(("data?", "metadata?"), is_one),
    **dict.fromkeys(("count?", "length?"), maybe(is_whole)),
    "wait?": maybe(is_truth),
}
_TRIED_VARIABLE: Fields = {"change": _CHANGE, "type?": maybe(is_text), "hash?": maybe(is_text)}
_TRIED: Fields = {
    "status": is_text,
    "late": is_truth,
    "wall_s": is_number,
    "outputs": many(is_one),
    "state": is_one,
    "inside": named(is_text),
    "aliases": many(many(is_text)),
    "settings": named(row_of(maybe(is_text), is_truth, is_truth)),
}


def trial_report(text: str) -> dict[str, Any]:
    """The report about a cell that was tried (`notebook.trial.process`). Raises Forged."""
    report = shaped("a report", _trial_text(text), _TRIED)
    for output in report["outputs"]:
        shaped("an output", output, _OUTPUT)
    for variable in shaped("a state", report["state"], _STATE)["variables"].values():
        _checked("a variable", variable, _TRIED_VARIABLE)
    return report


def trial_digests(text: str) -> dict[str, str | None]:
    """Digests of files, by path. Raises Forged."""
    digests: dict[str, str | None] = _trial_text(text)
    if not named(maybe(is_text))(digests):
        raise Forged("malformed digests")
    return digests


def _trial_text(text: str) -> Any:
    # What a library shows as JSON may hold NaN.
    data = text.encode("utf-8", "surrogatepass")
    return plain(data, most_bytes=2 * END_BYTES, parts=_WIRE_PARTS, depth=300, decoder=_PYTHONS_JSON)
