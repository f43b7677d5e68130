"""``cwm``: the frames of Code World Model, as published (FAIR 2025, arXiv:2510.02387; "Trace Prediction" in
PROMPTING_GUIDE.md and demos/cwmdbg.py of facebookresearch/cwm).

    <|call_sep|>{"n": "2"}<|action_sep|>def f(n):<|frame_sep|>
    <|line_sep|>{"n": ".."}<|action_sep|>    return n<|frame_sep|>
    <|return_sep|><|action_sep|>    return n<|arg_sep|>"2"<|frame_sep|>

Variables come in the order in which they got a value. ``..`` stands for the value in the last frame before
it, not across a call or a return. The line is its text alone. A reader finds its number in the source: of
equal lines by the way that the run takes (`whereabouts`); where that leaves more than one, the frame cannot
be read. With `numbers` the number stands before each line: ours, and never ambiguous.

Kept: the order of events with their lines; at calls and lines the variables of the running frame, each by
itself (what they share is lost, within one, too); what is returned or raised. Not kept: functions, files,
iterators, what other frames and the globals hold, output. A yield is a return and a resume a call; a frame
that an exception leaves returns None right after its exception.

Ours, for there is no published form of it: values that `repr` does not tell are written as in all notations
(`values.py`): instances, iterators, what holds itself, what was left out.
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
    """The frames of a trace, one after another. source: of the program, for the text of its lines."""
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
    """In which order a frame's variables are told: as they came to have a value. Those that did at once come
    in the order in which the interpreter lists them; so do all of a generator's when it goes on."""

    def __init__(self, source: str) -> None:
        self.where = whereabouts(source)
        self.known: list[list[str]] = []
        """Of each frame on the call stack."""

    def of(self, moment: Moment, names: Iterable[str]) -> list[str]:
        depth, running, bound = len(moment.frames), moment.running, dict.fromkeys(names)
        before = [] if moment.kind in BEGINS else self.known[depth - 1 : depth]
        ordered = [name for known in before for name in known if name in bound]
        new = bound.keys() - {*ordered}
        line = running.line if running.file is None else 0
        ordered += self.where.in_order(running.function, line, [name for name in bound if name in new])
        self.known[depth - 1 :] = [[] for _ in range(depth - 1 - len(self.known))] + [ordered]
        return ordered


def _text(value: Encoded, objects: Mapping[int, Content]) -> str:
    contents: dict[int, Content] = {}
    return value_text(_alone(value, objects, contents), contents)


def _json_text(value: object) -> str:
    """As JSON, in which none of the marks can stand."""
    return json.dumps(value).replace("<|", "\\u003c|")


def _unmarked(line: str) -> str:
    return line.replace("<|", "< |")


def cwm_prompt(source: str, line: int) -> str:
    """What precedes the frames: the source with the mark on the line that is entered first."""
    lines = code_lines(source)
    lines[line - 1 : line] = [f"{text}  # << START_OF_TRACE" for text in lines[line - 1 : line]]
    end = "\n" if source.endswith(("\n", "\r")) else ""
    return "<|trace_context_start|>" + "\n".join(lines) + end + _FRAME_SEP


def cwm_kept(moments: Iterable[Moment]) -> Iterator[Moment]:
    """The part of each moment that the notation keeps: one frame without a name, its variables apart."""
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
"""Objects that a value is written with at most, where what is met twice is written twice."""


def _alone(value: Encoded, objects: Mapping[int, Content], contents: dict[int, Content]) -> Encoded:
    """The value with each object as often as it is met, as `repr` has it. Where that has no end, an object
    stands for itself; where it were too much, for all that is the same."""
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
    """The value with new objects, which are added to `contents`."""
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
    """The frames that a text tells. source: where lines without a number are looked up; one that could be any
    of several, or is not there, cannot be read."""
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
    """A frame as it is read, but for its line. action: the text of the line, which begins at `at` of the
    chunk; ends: the line of the text (from 1) that the frame ends with."""

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
    """The lines that each frame may be on: those of one call are looked at together."""
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
    """The text of a line, and the number before it if there is one. texts: of the source's lines: what is a
    number in the line itself, as of a key in a dictionary, is none before it."""
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
    """The texts of variables, with those of before where they are said to be the same."""
    names = _json(names_json, at)
    if not isinstance(names, dict) or not all(isinstance(text, str) for text in names.values()):
        raise Unread(at, "expected a JSON object of strings")
    for name, text in names.items():
        if text == ".." and name not in last_texts:
            raise Unread(at, f"{name!r:.40} is said to be as before, and was not said before")
    return {name: last_texts[name] if text == ".." else text for name, text in names.items()}


def _json(text: str, at: int) -> object:
    try:
        found: object = read_json(text)
    except NotJSON:
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
