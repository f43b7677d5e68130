"""``cwm``: the frames of Code World Model (FAIR 2025, arXiv:2510.02387; "Trace Prediction" in its
PROMPTING_GUIDE.md).

    <|call_sep|>{"n": "2"}<|action_sep|>1:def f(n):<|frame_sep|>
    <|line_sep|>{"n": ".."}<|action_sep|>2:    return n<|frame_sep|>
    <|return_sep|><|action_sep|>2:    return n<|arg_sep|>"2"<|frame_sep|>

The published format has the text of the line alone, by which it finds the line: equal lines are ambiguous.
Here the line's number stands before it, unless `numbers` is False, which writes what that model was trained
on.

Kept: the order of events with their lines; at calls and lines the variables of the running frame, each by
itself (what they share is lost); what is returned or raised. Not kept: functions, files, iterators, what
other frames and the globals hold, output. A yield is a return and a resume a call; a frame that an exception
leaves returns None right after its exception. ``..`` stands for the value in the last frame before it, not
across a return.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from deskcheck.notation.lines import Parsed, Unreadable, unreadable
from deskcheck.notation.state import MODULE, UNKNOWN, Frame, Moment, fields_of
from deskcheck.notation.values import Objects, Reader, Unread, read_value, value_text
from deskcheck.recording import Kind
from deskcheck.recording.value import Content, Encoded

_WORD = {
    Kind.CALL: "call",
    Kind.RESUME: "call",
    Kind.LINE: "line",
    Kind.RETURN: "return",
    Kind.YIELD: "return",
    Kind.UNWIND: "return",
    Kind.RAISE: "exception",
}
_KIND = {"call": Kind.CALL, "line": Kind.LINE, "return": Kind.RETURN, "exception": Kind.RAISE}
_FRAME_SEP, _ACTION_SEP, _ARG_SEP = "<|frame_sep|>", "<|action_sep|>", "<|arg_sep|>"
_HEAD = re.compile(r"<\|(call|line|return|exception)_sep\|>")
_NUMBER = re.compile(r"([0-9]{1,9}):")


def variables(moment: Moment) -> dict[str, Encoded]:
    """The variables of the running frame; of a module's, its globals."""
    frame = moment.running
    own = moment.globals.get(frame.file, {}) if frame.function == MODULE else {}
    return {**own, **frame.locals}


def cwm_text(moments: Iterable[Moment], source: str, *, numbers: bool = True) -> str:
    """The frames of a trace, one after another. source: of the program, for the text of its lines."""
    lines = source.split("\n")
    told: dict[str, str] = {}
    parts = []
    for moment in moments:
        word, line = _WORD[moment.kind], moment.running.line
        own = moment.running.file is None and 0 < line <= len(lines)
        action = (f"{line}:" if numbers else "") + (_unmarked(lines[line - 1]) if own else "")
        parts.append(f"<|{word}_sep|>")
        if word in ("call", "line"):
            if word == "call":
                told = {}
            texts = {name: value_text(value, moment.objects) for name, value in variables(moment).items()}
            # ".." as a value itself cannot be mistaken: the repr of a str has quotes.
            shown = {name: ".." if told.get(name) == text else text for name, text in texts.items()}
            told = texts
            parts.append(_json_text(shown))
        parts.append(f"{_ACTION_SEP}{action}")
        if word in ("return", "exception"):
            if word == "return":
                told = {}
            value = None if moment.kind is Kind.UNWIND else moment.value
            parts.append(f"{_ARG_SEP}{_json_text(value_text(value, moment.objects))}")
        parts.append(_FRAME_SEP)
    return "".join(parts)


def _json_text(value: object) -> str:
    """As JSON, in which none of the marks can stand."""
    return json.dumps(value).replace("<|", "\\u003c|")


def _unmarked(line: str) -> str:
    return line.rstrip("\r").replace("<|", "< |")


def cwm_prompt(source: str, line: int) -> str:
    """What precedes the frames: the source with the mark on the line that is entered first."""
    lines = source.split("\n")
    lines[line - 1 : line] = [f"{text}  # << START_OF_TRACE" for text in lines[line - 1 : line]]
    return "<|trace_context_start|>" + "\n".join(lines) + _FRAME_SEP


def cwm_kept(moments: Iterable[Moment]) -> Iterator[Moment]:
    """What the notation keeps of each moment: one frame of no name, its variables apart from one another."""
    for moment in moments:
        kind = _KIND[_WORD[moment.kind]]
        objects: dict[int, Content] = {}
        names: dict[str, Encoded] = {}
        if kind in (Kind.CALL, Kind.LINE):
            names = {name: _apart(v, moment.objects, objects) for name, v in variables(moment).items()}
        value = None if moment.kind in (Kind.UNWIND, Kind.CALL, Kind.LINE, Kind.RESUME) else moment.value
        value = _apart(value, moment.objects, objects)
        yield Moment(kind, (Frame("", moment.running.line, locals=names),), {}, objects, value)


def _apart(value: Encoded, objects: Mapping[int, Content], found: dict[int, Content]) -> Encoded:
    """The value with objects of its own, which are added to `found`."""
    numbers: dict[int, int] = {}
    todo: list[int] = []
    base = len(found)

    def moved(item: Encoded) -> Encoded:
        if isinstance(item, list):
            return [moved(part) for part in item]
        if not isinstance(item, dict):
            return item
        number = item.get("ref")
        if number is None:
            return {key: moved(part) for key, part in item.items()}
        if number not in numbers:
            numbers[number] = base + len(todo) + 1
            todo.append(number)
        return {"ref": numbers[number]}

    copied = moved(value)
    done = 0
    while done < len(todo):
        content = dict(objects.get(todo[done], UNKNOWN))
        for key in ("items", "fields"):
            if key in content:
                content[key] = moved(content[key] if key == "items" else fields_of(content))
        found[base + done + 1] = content
        done += 1
    return copied


def parse_cwm(text: str, source: str | None = None) -> Parsed:
    """The frames that a text tells. source: where lines without a number are looked up; one that is there
    more than once, or not at all, cannot be read."""
    where: dict[str, list[int]] = {}
    for number, line in enumerate((source or "").split("\n"), 1):
        where.setdefault(line.strip(), []).append(number)
    moments: list[Moment] = []
    places: list[int] = []
    failed: list[Unreadable] = []
    told: dict[str, str] = {}
    begun = 1
    chunks = text.split(_FRAME_SEP)
    for at, chunk in enumerate(chunks):
        number, begun = begun, begun + chunk.count("\n")
        if (
            not chunk.strip()
            or chunk.strip() == "<|end_of_text|>"
            or (at == 0 and "<|trace_context_start|>" in chunk)
        ):
            continue
        if at == len(chunks) - 1:
            failed.append(Unreadable(number, 1, "the frame has no end", chunk[:200]))
            continue
        try:
            moment, told = _frame(chunk, told, where)
            moments.append(moment)
            places.append(begun)
        except Unread as error:
            failed.append(unreadable(number, chunk, error))
    return Parsed(tuple(moments), tuple(places), unreadable=tuple(failed))


def _frame(chunk: str, told: dict[str, str], where: dict[str, list[int]]) -> tuple[Moment, dict[str, str]]:
    start = len(chunk) - len(chunk.lstrip())
    head = _HEAD.match(chunk, start)
    if not head:
        raise Unread(start, "expected <|call_sep|>, <|line_sep|>, <|return_sep|> or <|exception_sep|>")
    kind = _KIND[head[1]]
    shown, separator, rest = chunk[head.end() :].partition(_ACTION_SEP)
    if not separator:
        raise Unread(len(chunk), "expected <|action_sep|>")
    action, separator, argument = rest.partition(_ARG_SEP)
    at = head.end() + len(shown) + len(_ACTION_SEP)
    objects: dict[int, Content] = {}
    line = _line_of(action, where, at)
    if kind in (Kind.RETURN, Kind.RAISE):
        if not separator or shown.strip():
            raise Unread(at, "expected <|arg_sep|> and a value after the line, and nothing before it")
        value = _json(argument, at + len(action) + len(_ARG_SEP))
        if not isinstance(value, str):
            raise Unread(at, "expected the value as a JSON string")
        frame = Frame("", line)
        return Moment(
            kind, (frame,), {}, objects, _value(value, objects, at)
        ), {} if kind is Kind.RETURN else told
    names = _json(shown, head.end())
    if not isinstance(names, dict) or not all(isinstance(text, str) for text in names.values()):
        raise Unread(head.end(), "expected a JSON object of strings")
    if separator:
        raise Unread(at, "expected no value")
    if kind is Kind.CALL:
        told = {}
    for name, text in names.items():
        if text == ".." and name not in told:
            raise Unread(head.end(), f"{name!r:.40} is said to be as before, and was not said before")
    texts = {name: told[name] if text == ".." else text for name, text in names.items()}
    values = {name: _value(text, objects, head.end()) for name, text in texts.items()}
    return Moment(kind, (Frame("", line, locals=values),), {}, objects), texts


def _line_of(action: str, where: dict[str, list[int]], at: int) -> int:
    found = _NUMBER.match(action.lstrip())
    if found:
        return int(found[1])
    lines = where.get(action.replace("# << START_OF_TRACE", "").strip(), [])
    if len(lines) != 1:
        raise Unread(
            at, "the line is not in the source" if not lines else f"the line could be any of {lines}"
        )
    return lines[0]


def _json(text: str, at: int) -> object:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        raise Unread(at, "expected JSON") from None
    return found


def _value(text: str, objects: dict[int, Content], at: int) -> Encoded:
    reader = Reader(text, Objects())
    try:
        value, found = read_value(reader)
        reader.skip()
        if reader.at < len(text):
            raise reader.fail("expected the end of the value")
    except Unread as error:
        raise Unread(at, f"in {text:.60}: {error.why}") from None
    return _apart(value, found, objects)
