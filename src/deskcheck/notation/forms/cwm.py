"""``cwm``: the frames of Code World Model, as published (FAIR 2025, arXiv:2510.02387; "Trace Prediction" in
PROMPTING_GUIDE.md and demos/cwmdbg.py of facebookresearch/cwm).

    <|call_sep|>{"n": "2"}<|action_sep|>def f(n):<|frame_sep|>
    <|line_sep|>{"n": ".."}<|action_sep|>    return n<|frame_sep|>
    <|return_sep|><|action_sep|>    return n<|arg_sep|>"2"<|frame_sep|>

Variables appear in the order in which they received a value. ``..`` means the same value as in the frame
before, but not across a call or a return. A line is only its text. A reader finds its number in the source;
the course of the run decides between equal lines (`whereabouts`). If several lines remain possible, the frame
cannot be read. With `numbers`, an extension by deskcheck, the number precedes each line and nothing is
ambiguous.

Included: the order of events with their lines; the variables of the running frame at calls and lines, each
separately (shared values are lost, also inside a value); returned and raised values. Not included: functions,
files, iterators, variables of other frames, globals, output. A yield is written as a return, and a resume as
a call. A frame that an exception leaves returns None right after its exception.

The published format does not cover values without a complete `repr` (instances, iterators, values that
contain themselves, values that are cut). They are written as in all notations (`values.py`).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from deskcheck.files import NotJSON, read_json
from deskcheck.notation.forms.whereabouts import FrameStep, whereabouts
from deskcheck.notation.lines import Parsed, Unreadable, unreadable
from deskcheck.notation.state import BEGINS, UNKNOWN, Frame, Moment, fields_of
from deskcheck.notation.values import Objects, Reader, Unread, read_value, value_text
from deskcheck.recording import Kind
from deskcheck.recording.program import code_lines
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


def cwm_text(moments: Iterable[Moment], source: str, *, numbers: bool = False) -> str:
    """The frames of a trace, in order. source: the program's, for the text of its lines."""
    lines = code_lines(source)
    orders = _Orders(source)
    last_texts: dict[str, str] = {}
    parts = []
    for moment in moments:
        word, line = _WORD[moment.kind], moment.running.line
        in_program = moment.running.file is None and 0 < line <= len(lines)
        action = (f"{line}:" if numbers else "") + (_unmarked(lines[line - 1]) if in_program else "")
        parts.append(f"<|{word}_sep|>")
        if word in ("call", "line"):
            if word == "call":
                last_texts = {}
            own_values = moment.names(moment.running)
            names = orders.of(moment, own_values)
            texts = {name: _text(own_values[name], moment.objects) for name in names}
            # ".." as a value itself cannot be mistaken: the repr of a str has quotes.
            changed = {name: ".." if last_texts.get(name) == text else text for name, text in texts.items()}
            last_texts = texts
            parts.append(_json_text(changed))
        parts.append(f"{_ACTION_SEP}{action}")
        if word in ("return", "exception"):
            if word == "return":
                last_texts = {}
            value = None if moment.kind is Kind.UNWIND else moment.value
            parts.append(f"{_ARG_SEP}{_json_text(_text(value, moment.objects))}")
        parts.append(_FRAME_SEP)
    return "".join(parts)


class _Orders:
    """The order of a frame's variables: the order in which they received a value.

    Variables that received a value at the same event are in the interpreter's order. So are all variables of
    a generator when it resumes.
    """

    def __init__(self, source: str) -> None:
        self.where = whereabouts(source)
        self.orders: list[list[str]] = []
        """The order of the variables of each frame on the call stack."""

    def of(self, moment: Moment, names: Iterable[str]) -> list[str]:
        depth, running, bound = len(moment.frames), moment.running, dict.fromkeys(names)
        before = [] if moment.kind in BEGINS else self.orders[depth - 1 : depth]
        ordered = [name for order in before for name in order if name in bound]
        new = bound.keys() - {*ordered}
        line = running.line if running.file is None else 0
        ordered += self.where.in_order(running.function, line, [name for name in bound if name in new])
        self.orders[depth - 1 :] = [[] for _ in range(depth - 1 - len(self.orders))] + [ordered]
        return ordered


def _text(value: Encoded, objects: Mapping[int, Content]) -> str:
    contents: dict[int, Content] = {}
    return value_text(_alone(value, objects, contents), contents)


def _json_text(value: object) -> str:
    """The value as JSON, in which no mark can occur."""
    return json.dumps(value).replace("<|", "\\u003c|")


def _unmarked(line: str) -> str:
    return line.replace("<|", "< |")


def cwm_prompt(source: str, line: int) -> str:
    """The text before the frames: the source, with a mark on the first line of the run."""
    lines = code_lines(source)
    lines[line - 1 : line] = [f"{text}  # << START_OF_TRACE" for text in lines[line - 1 : line]]
    end = "\n" if source.endswith(("\n", "\r")) else ""
    return "<|trace_context_start|>" + "\n".join(lines) + end + _FRAME_SEP


def cwm_kept(moments: Iterable[Moment]) -> Iterator[Moment]:
    """The part of each moment that the notation includes: one unnamed frame, with separate variables."""
    for moment in moments:
        kind = _KIND[_WORD[moment.kind]]
        objects: dict[int, Content] = {}
        names: dict[str, Encoded] = {}
        if kind in (Kind.CALL, Kind.LINE):
            names = {
                name: _alone(v, moment.objects, objects) for name, v in moment.names(moment.running).items()
            }
        value = None if moment.kind in (Kind.UNWIND, Kind.CALL, Kind.LINE, Kind.RESUME) else moment.value
        value = _alone(value, moment.objects, objects)
        yield Moment(kind, (Frame("", moment.running.line, locals=names),), {}, objects, value)


_MOST = 10_000
"""Limit for the objects of a value, counting each time that an object is written."""


def _alone(value: Encoded, objects: Mapping[int, Content], contents: dict[int, Content]) -> Encoded:
    """The value with a copy of an object for each of its uses, like `repr`.

    An object that contains itself is not copied inside itself. If there would be too many copies, each object
    is written once.
    """
    copies: dict[int, Content] = {}
    base = len(contents)

    def copied(item: Encoded, inside: dict[int, int]) -> Encoded:
        if isinstance(item, list):
            return [copied(part, inside) for part in item]
        if not isinstance(item, dict):
            return item
        number = item.get("ref")
        if number is None:
            return {key: copied(part, inside) for key, part in item.items()}
        if number in inside:
            return {"ref": inside[number]}
        if len(copies) == _MOST:
            raise OverflowError
        new_number = base + len(copies) + 1
        copies[new_number] = content = dict(objects.get(number, UNKNOWN))
        for key in ("items", "fields"):
            if key in content:
                parts = content[key] if key == "items" else fields_of(content)
                content[key] = copied(parts, {**inside, number: new_number})
        return {"ref": new_number}

    try:
        copy = copied(value, {})
    except (OverflowError, RecursionError):
        return _apart(value, objects, contents)
    contents.update(copies)
    return copy


def _apart(value: Encoded, objects: Mapping[int, Content], contents: dict[int, Content]) -> Encoded:
    """The value with new objects, whose contents are added to `contents`."""
    numbers: dict[int, int] = {}
    todo: list[int] = []
    base = len(contents)

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
    copied_contents = 0
    while copied_contents < len(todo):
        content = dict(objects.get(todo[copied_contents], UNKNOWN))
        for key in ("items", "fields"):
            if key in content:
                content[key] = moved(content[key] if key == "items" else fields_of(content))
        contents[base + copied_contents + 1] = content
        copied_contents += 1
    return copied


def parse_cwm(text: str, source: str | None = None) -> Parsed:
    """The frames of a text. source: for the numbers of lines without one.

    A frame cannot be read if its line is not in the source, or could be any of several lines.
    """
    frames: list[_Told | Unreadable] = []
    last_texts: dict[str, str] = {}
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
            frames.append(Unreadable(number, 1, "the frame has no end", chunk[:200]))
            continue
        try:
            frame, last_texts = _frame(chunk, last_texts, begun)
            frames.append(frame)
        except Unread as error:
            frames.append(unreadable(number, chunk, error))
    return _placed(frames, source)


@dataclass(frozen=True, slots=True)
class _Told:
    """A frame that is read, except for its line. action: the text of its line, which begins at `at` of the
    chunk. ends: the last line of the frame in the text, from 1."""

    kind: Kind
    action: str
    objects: dict[int, Content]
    names: dict[str, Encoded]
    value: Encoded
    at: int
    ends: int
    chunk: str


def _placed(frames: list[_Told | Unreadable], source: str | None) -> Parsed:
    """The moments, with their lines."""
    lines = _lines(frames, source)
    moments: list[Moment] = []
    places: list[int] = []
    failed: list[Unreadable] = []
    for at, frame in enumerate(frames):
        if isinstance(frame, Unreadable):
            failed.append(frame)
            continue
        candidates = lines.get(at, [])
        if len(candidates) == 1:
            moment_frame = Frame("", candidates[0], locals=frame.names)
            moments.append(Moment(frame.kind, (moment_frame,), {}, frame.objects, frame.value))
            places.append(frame.ends)
        else:
            reason = (
                "the line is not in the source"
                if not candidates
                else f"the line could be any of {candidates}"
            )
            begins = frame.ends - frame.chunk.count("\n")
            failed.append(unreadable(begins, frame.chunk, Unread(frame.at, reason)))
    return Parsed(tuple(moments), tuple(places), unreadable=tuple(failed))


def _lines(frames: list[_Told | Unreadable], source: str | None) -> dict[int, list[int]]:
    """The possible lines of each frame. The frames of a call are considered together."""
    texts = [_unmarked(line) for line in code_lines(source or "")]
    where = whereabouts("\n".join(texts))
    calls: list[list[int]] = []
    open_: list[list[int]] = []
    steps: dict[int, FrameStep] = {}
    for at, frame in enumerate(frames):
        if isinstance(frame, Unreadable):  # whether it was a call or a return is not known
            open_ = []
            continue
        if frame.kind is Kind.CALL or not open_:
            open_.append([])
            calls.append(open_[-1])
        open_[-1].append(at)
        steps[at] = FrameStep(frame.kind, *_action(frame.action, None if source is None else texts))
        if frame.kind is Kind.RETURN:
            open_.pop()
    first = steps.get(0)
    if first is not None and first.kind is Kind.CALL and not (first.text or texts[0].strip()):
        steps[0] = first._replace(line=1)  # of a module that begins with an empty line
    lines: dict[int, list[int]] = {}
    for call in calls:
        lines.update(zip(call, where.lines_of([steps[at] for at in call]), strict=True))
    return lines | {at: [step.line] for at, step in steps.items() if step.line is not None}


def _action(action: str, texts: list[str] | None) -> tuple[str, int | None]:
    """The text of a line, and the number before it, if any.

    texts: the lines of the source, to recognise lines that begin with a number, such as a dictionary's key.
    """
    plain = action.replace("# << START_OF_TRACE", "").strip()
    numbered = _NUMBER.match(plain)
    if numbered is None:
        return plain, None
    number, line_text = int(numbered[1]), plain[numbered.end() :].strip()
    if texts is None or not line_text:
        return line_text, number
    if 0 < number <= len(texts) and texts[number - 1].strip() == line_text:
        return line_text, number
    return plain, None


def _frame(chunk: str, last_texts: dict[str, str], ends: int) -> tuple[_Told, dict[str, str]]:
    start = len(chunk) - len(chunk.lstrip())
    head = _HEAD.match(chunk, start)
    if not head:
        raise Unread(start, "expected <|call_sep|>, <|line_sep|>, <|return_sep|> or <|exception_sep|>")
    kind = _KIND[head[1]]
    names_json, separator, after_names = chunk[head.end() :].partition(_ACTION_SEP)
    if not separator:
        raise Unread(len(chunk), "expected <|action_sep|>")
    action, separator, argument = after_names.partition(_ARG_SEP)
    at = head.end() + len(names_json) + len(_ACTION_SEP)
    objects: dict[int, Content] = {}
    if kind in (Kind.RETURN, Kind.RAISE):
        if not separator or names_json.strip():
            raise Unread(at, "expected <|arg_sep|> and a value after the line, and nothing before it")
        value = _json(argument, at + len(action) + len(_ARG_SEP))
        if not isinstance(value, str):
            raise Unread(at, "expected the value as a JSON string")
        encoded = _value(value, objects, at)
        after = {} if kind is Kind.RETURN else last_texts
        return _Told(kind, action, objects, {}, encoded, at, ends, chunk), after
    if separator:
        raise Unread(at, "expected no value")
    texts = _names(names_json, {} if kind is Kind.CALL else last_texts, head.end())
    values = {name: _value(text, objects, head.end()) for name, text in texts.items()}
    return _Told(kind, action, objects, values, None, at, ends, chunk), texts


def _names(names_json: str, last_texts: dict[str, str], at: int) -> dict[str, str]:
    """The texts of variables. For ``..`` this is the last text of the variable."""
    names = _json(names_json, at)
    if not isinstance(names, dict) or not all(isinstance(text, str) for text in names.values()):
        raise Unread(at, "expected a JSON object of strings")
    for name, text in names.items():
        if text == ".." and name not in last_texts:
            raise Unread(at, f"{name!r:.40} is marked as unchanged, but has no earlier value")
    return {name: last_texts[name] if text == ".." else text for name, text in names.items()}


def _json(text: str, at: int) -> object:
    try:
        value: object = read_json(text)
    except NotJSON:
        raise Unread(at, "expected JSON") from None
    return value


def _value(text: str, objects: dict[int, Content], at: int) -> Encoded:
    reader = Reader(text, Objects())
    try:
        value, contents = read_value(reader)
        reader.skip()
        if reader.at < len(text):
            raise reader.fail("expected the end of the value")
    except Unread as error:
        raise Unread(at, f"in {text:.60}: {error.why}") from None
    return _apart(value, contents, objects)
