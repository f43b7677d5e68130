"""Where something happens in a recording: an expression holds or changes, a call, an exception, an output.

A pass over the events decodes only the columns that matter, and evaluates an expression again only after
something that it reads has changed. No code of the program runs (`evaluator`).
"""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from deskcheck.errors import InputError
from deskcheck.recording.reader import Recordings
from deskcheck.recording.recording import Recording
from deskcheck.recording.trace import bind, content_after
from deskcheck.recording.value import Content, Encoded, decode, loads, render
from deskcheck.view.queries.evaluator import FAILURES, Expression, NotThere, Unknown
from deskcheck.view.queries.threads import trace_of

MATCHES = 20
VALUE_CHARS = 60
_COLUMNS = ("kind", "frame", "function", "file", "line", "locals", "globals", "objects", "caller")
_LEAVES = frozenset({"return", "unwind"})


@dataclass(frozen=True, slots=True)
class Match:
    """An event, or a stretch of events, where something was found."""

    event: int
    last: int
    """The last event of the stretch; for a single event the same as `event`."""
    file: str
    line: int
    function: str
    values: dict[str, str] = field(default_factory=dict)
    """Name -> value, rendered."""

    @property
    def text(self) -> str:
        """The match as a line for the terminal."""
        events = f"event {self.event}" if self.event == self.last else f"events {self.event} to {self.last}"
        values = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        return f"{events}, line {self.line} of {self.file} ({self.function})" + (
            f": {values}" if values else ""
        )


@dataclass(slots=True)
class Findings:
    """The answer to `find`."""

    recording: str
    query: str
    events: int = 0
    """Number of events that match."""
    stretches: int = 0
    """Number of stretches of such events, in one frame each."""
    matches: list[Match] = field(default_factory=list)
    """The first stretches."""
    undecided: int = 0
    """Number of evaluations that need something that was not recorded."""
    reason: str | None = None
    """The first thing that was not recorded."""

    def lines(self) -> Iterator[str]:
        """Sentences for the terminal."""
        if not self.events:
            yield f"{self.query}: no event"
        else:
            places = f"{self.stretches:,} place{'s' * (self.stretches > 1)}"
            many = "" if self.stretches == self.events else f" in {places}"
            yield f"{self.query}: {self.events:,} event{'s' * (self.events > 1)}{many}"
        for match in self.matches:
            yield f"  {match.text}"
        if self.stretches > len(self.matches):
            yield f"  ... and {self.stretches - len(self.matches):,} more (--max-matches)"
        if self.undecided:
            yield f"  {self.undecided:,} evaluations could not be decided: {self.reason} is not recorded"

    def to_dict(self) -> dict[str, Any]:
        """The fields as values for JSON."""
        return asdict(self)


class Events:
    """The events of one thread of a recording, column by column.

    recordings: the folder that the recording is from. Its files are read much faster than single events.
    """

    def __init__(self, recording: Recording, recordings: Recordings | None = None, thread: int = 0) -> None:
        self.trace = trace_of(recording, thread)
        self.recording = recording
        self.recordings = recordings
        self.thread = thread

    def columns(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """The values of these columns of each event, in order."""
        place = None if self.recordings is None else self._place(self.recordings)
        if place is None:
            for row in self.trace.rows:
                yield tuple(getattr(row, name) for name in names)
            return
        path, first, count = place
        several = len(self.recording.traces) > 1
        with pq.ParquetFile(path, pre_buffer=False, page_checksum_verification=True) as file:
            start = 0
            for group in range(file.num_row_groups):
                size = file.metadata.row_group(group).num_rows
                begin, end = max(first - start, 0), min(first + count - start, size)
                if begin < end:
                    needed = [*names, "thread"] if several else list(names)
                    table = file.read_row_group(group, columns=[*dict.fromkeys(needed)], use_threads=False)
                    table = table.slice(begin, end - begin)
                    lists = [table.column(name).to_pylist() for name in names]
                    if several:
                        threads = table.column("thread").to_pylist()
                        yield from (
                            values
                            for values, thread in zip(zip(*lists, strict=True), threads, strict=True)
                            if thread == self.thread
                        )
                    else:
                        yield from zip(*lists, strict=True)
                start += size

    def _place(self, recordings: Recordings) -> tuple[Path, int, int] | None:
        """The file with the events, the first row and the number of rows; None if they are elsewhere."""
        paths = {path["events"].stem.partition("-")[2]: path["events"] for path in recordings.paths}
        for shard, _, id_, first, count in recordings.columns("id", "first_row", "n_events"):
            if id_ == self.recording.id and shard in paths:
                return paths[shard], first, count
        return None


class _Frame:
    """The relevant names of a frame, and the last evaluation there."""

    __slots__ = ("before", "began", "holds", "last", "names", "stale", "version")

    def __init__(self) -> None:
        self.names: dict[str, Encoded] = {}
        self.stale = True
        self.version = -1
        self.holds: Any = False
        self.before: Any = None
        """The last value, for `find_changes`."""
        self.began = -1
        self.last = -1


class _Pass:
    """One pass over the events that knows the values of some names at each of them."""

    def __init__(self, events: Events, expression: Expression) -> None:
        self.events = events
        self.expression = expression
        quoted = (f'"{name}"' if name.isascii() else '"' for name in expression.names)
        self.mentions = re.compile("|".join(quoted)).search
        self.objects: dict[int, Content] = {}
        self.globals: dict[str, dict[str, Encoded]] = {}
        self.version = 0
        """Counts changes of global names, and of objects that were read."""
        self.read: set[int] = set()
        self.previous = ("", "", 0)
        """Function, file and line of the event before."""

    def _changes(self, text: str) -> dict[str, Encoded]:
        """The changes of the relevant names in a column."""
        return self._relevant(loads(text))

    def _relevant(self, names: dict[str, Encoded]) -> dict[str, Encoded]:
        return {name: value for name, value in names.items() if name in self.expression.names}

    def run(
        self, evaluate: Callable[["_Frame", str], Any]
    ) -> Iterator[tuple[int, "_Frame", tuple[Any, ...], bool]]:
        """Index, frame, columns, and whether the frame was evaluated again, of each event.

        evaluate: called with a frame and its file if something that the expression reads may have changed.
        Its result goes to `holds` of the frame.
        """
        shared: dict[str, _Frame] = {}
        frames: dict[int, _Frame] = {}
        needs_objects = self.expression.dereferences
        for index, columns in enumerate(self.events.columns(*_COLUMNS)):
            kind, number, function, file, _, local, global_, objects, caller = columns
            if objects and needs_objects:
                changed = _apply(self.objects, objects)
                self.version += len(self.read.intersection(changed))
            if global_ and self.mentions(global_) and (changes := self._changes(global_)):
                bind(self.globals.setdefault(file, {}), changes)
                self.version += 1
            if caller and self.mentions(caller):
                calling: dict[str, Any] = loads(caller)
                # Bound in the middle of a line: it is seen at the next event of that frame.
                if changes := self._relevant(calling.get("locals", {})):
                    calling_frame = frames.setdefault(calling["frame"], _Frame())
                    bind(calling_frame.names, changes)
                    calling_frame.stale = True
            frame = frames.get(number)
            if local and self.mentions(local) and (changes := self._changes(local)):
                if frame is None:
                    frame = frames[number] = _Frame()
                bind(frame.names, changes)
                frame.stale = True
            if frame is None:
                frame = shared.get(file)
                if frame is None:
                    frame = shared[file] = _Frame()
            again = frame.stale or frame.version != self.version
            if again:
                frame.holds = evaluate(frame, file)
                frame.stale, frame.version = False, self.version
            yield index, frame, columns, again
            self.previous = columns[2:5]
            if kind in _LEAVES and function != "<module>":
                frames.pop(number, None)

    def names(self, frame: _Frame, file: str) -> Mapping[str, Encoded]:
        """The encoded values of the relevant names in a frame."""
        return {**self.globals.get(file, {}), **frame.names}

    def values(self, frame: _Frame, file: str) -> dict[str, str]:
        """The values of the relevant names, rendered."""
        texts: dict[str, str] = {}
        for name, value in sorted(self.names(frame, file).items()):
            try:
                texts[name] = render(decode(value, self.objects), max_chars=VALUE_CHARS)
            except KeyError:  # without objects
                texts[name] = "..."
        return texts


def find(events: Events, text: str, *, max_matches: int = MATCHES) -> Findings:
    """The events at which an expression over recorded names is true.

    At an event the names are those of its frame, and then those of its file. Where a name has no value, or
    the expression would raise an exception, it does not hold.

    Raises InputError if the expression is not allowed.
    """
    expression = Expression(text)
    if not expression.names:
        raise InputError(f"{text!r}: reads no name, so it is the same at every event.")
    scan = _Pass(events, expression)
    findings = Findings(events.recording.id, text)

    def evaluate(frame: _Frame, file: str) -> bool:
        try:
            return expression.holds(scan.names(frame, file), scan.objects, scan.read.add)
        except Unknown as error:
            findings.undecided += 1
            findings.reason = findings.reason or str(error)
        except (NotThere, *FAILURES):
            pass
        return False

    open_: dict[int, tuple[Match, _Frame]] = {}
    for index, frame, columns, again in scan.run(evaluate):
        if again and frame.began >= 0 and not frame.holds:
            _close(findings, open_, frame)
        if frame.holds:
            findings.events += 1
            if frame.began < 0:
                frame.began = index
                findings.stretches += 1
                if findings.stretches <= max_matches:
                    _, _, function, file, line = columns[:5]
                    match = Match(index, index, file, line, function, scan.values(frame, file))
                    open_[id(frame)] = match, frame
            frame.last = index
    for _, frame in [*open_.values()]:
        _close(findings, open_, frame)
    findings.matches.sort(key=lambda match: match.event)
    return findings


def _close(findings: Findings, open_: dict[int, tuple[Match, _Frame]], frame: _Frame) -> None:
    frame.began = -1
    if id(frame) in open_:
        match, _ = open_.pop(id(frame))
        findings.matches.append(
            Match(match.event, frame.last, match.file, match.line, match.function, match.values)
        )


def find_changes(events: Events, text: str, *, max_matches: int = MATCHES) -> Findings:
    """The events at which the value of an expression is another one than before, in each frame.

    The first value in a frame counts as a change. What its objects contain belongs to the value. The line is
    the one that ran before the event and so made the change; for an argument, the first line of the function.

    Raises InputError if the expression is not allowed.
    """
    expression = Expression(text)
    expression.dereferences = True
    scan = _Pass(events, expression)
    findings = Findings(events.recording.id, f"changes of {text}")

    def evaluate(frame: _Frame, file: str) -> Any:
        names = scan.names(frame, file)
        try:
            if isinstance(expression.tree, ast.Name):
                return _fingerprint(names[expression.tree.id], scan.objects, scan.read)
            value = expression.value(names, scan.objects, scan.read.add)
            return (
                repr(value)
                if not hasattr(value, "content")
                else _fingerprint(
                    {"ref": value.number} if value.number is not None else value.content,
                    scan.objects,
                    scan.read,
                )
            )
        except Unknown as error:
            findings.undecided += 1
            findings.reason = findings.reason or str(error)
        except (NotThere, *FAILURES):
            pass
        return None

    for index, frame, columns, again in scan.run(evaluate):
        if not again or frame.holds == frame.before:
            continue
        frame.before = frame.holds
        if frame.holds is None:
            continue
        findings.events += 1
        findings.stretches += 1
        if len(findings.matches) < max_matches:
            kind, _, _, read_in, _ = columns[:5]
            function, file, line = columns[2:5] if kind == "call" else scan.previous
            findings.matches.append(Match(index, index, file, line, function, scan.values(frame, read_in)))
    return findings


_MOST_PARTS = 2000


def _fingerprint(encoded: Encoded, objects: dict[int, Content], read: set[int]) -> str:
    """A text that is equal for equal values, without identity numbers. Of very large values a part."""
    visited: dict[int, int] = {}
    parts: list[str] = []
    todo = [encoded]
    while todo and len(parts) < _MOST_PARTS:
        part = todo.pop()
        if isinstance(part, dict) and isinstance(number := part.get("ref"), int):
            read.add(number)
            if number in visited or number not in objects:
                parts.append(f"#{visited.get(number)}")
                continue
            visited[number] = len(visited)
            content = objects[number]
            if content["kind"] in ("iterator", "generator", "function", "class"):
                parts.append(content["kind"])
                continue
            todo.append({key: value for key, value in content.items() if key != "text"})
        elif isinstance(part, dict):
            parts.append(f"{{{','.join(map(str, part))}")
            todo += reversed(part.values())
        elif isinstance(part, list):
            parts.append(f"[{len(part)}")
            todo += reversed(part)
        else:
            parts.append(json.dumps(part))
    return " ".join(parts)


class _CallQuery(NamedTuple):
    name: str
    arguments: list[Any]
    keywords: dict[str, Any]
    any_arguments: bool


def _call_query(text: str) -> _CallQuery:
    """The function and arguments of ``f(3)``, ``Cart.add(..., n=2)`` or ``f``. `...` matches any argument."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if isinstance(tree, ast.Name | ast.Attribute):
            return _CallQuery(ast.unparse(tree), [], {}, True)
        if isinstance(tree, ast.Call) and all(keyword.arg for keyword in tree.keywords):
            arguments = [ast.literal_eval(part) for part in tree.args]
            keywords = {str(part.arg): ast.literal_eval(part.value) for part in tree.keywords}
            return _CallQuery(ast.unparse(tree.func), arguments, keywords, False)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        pass
    raise InputError(
        f"--calls {text!r}: is not a call with constant arguments. Write --calls f, --calls 'f(3)', "
        "--calls 'Cart.add(..., n=2)'; ... stands for any argument."
    )


def find_calls(events: Events, text: str, *, max_matches: int = MATCHES) -> Findings:
    """The calls of a function, with these arguments if the text has parentheses.

    text: ``f``, ``f(3)``, ``Cart.add(2)``. The name is the qualified name or its end. An argument ``...``
    matches any value. `self` can be left out.

    Raises InputError if the text is not a call with constant arguments.
    """
    query = _call_query(text)
    findings = Findings(events.recording.id, f"calls of {text}")
    objects: dict[int, Content] = {}
    patterns = [*query.arguments, *query.keywords.values()]
    compares_contents = any(isinstance(value, list | dict | set | tuple) for value in patterns)
    pending: list[tuple[Match, dict[str, Encoded]]] = []
    for index, columns in enumerate(events.columns(*_COLUMNS)):
        kind, _, function, file, line, local, _, changes, _ = columns
        if changes and compares_contents:
            _apply(objects, changes)
        if kind != "call" or not (function == query.name or function.endswith(f".{query.name}")):
            continue
        values = loads(local) if local else {}
        if not query.any_arguments:
            names = [*values]
            if not any(_fits(names[shift:], values, query, objects) for shift in (0, 1)):
                continue
        findings.events += 1
        findings.stretches += 1
        if len(pending) < max_matches:
            pending.append((Match(index, index, file, line, function), values))
    findings.matches = _with_values(events, pending)
    return findings


def _with_values(events: Events, pending: list[tuple[Match, dict[str, Encoded]]]) -> list[Match]:
    """The matches with their values rendered, which needs the objects of the events up to the last match."""
    objects: dict[int, Content] = {}
    matches: list[Match] = []
    for index, (changes,) in enumerate(events.columns("objects")):
        if len(matches) == len(pending):
            break
        if changes:
            _apply(objects, changes)
        match, values = pending[len(matches)]
        if match.event == index:
            texts = {
                name: render(decode(value, objects), max_chars=VALUE_CHARS) for name, value in values.items()
            }
            matches.append(replace(match, values=texts))
    return matches


def _apply(objects: dict[int, Content], text: str) -> list[int]:
    """Apply the changes of an event to the contents of objects. Returns their numbers."""
    changed: list[int] = []
    for key, change in loads(text).items():
        number = int(key)
        if change is None:
            objects.pop(number, None)
        else:
            objects[number] = change if "kind" in change else content_after(objects[number], change)
            changed.append(number)
    return changed


@lru_cache(64)
def _equals(text: str) -> Expression:
    return Expression(f"given == {text}")


def _fits(
    names: list[str], values: dict[str, Encoded], query: _CallQuery, objects: dict[int, Content]
) -> bool:
    if len(query.arguments) > len(names) or not query.keywords.keys() <= {*names}:
        return False
    pairs = [*zip(names, query.arguments, strict=False), *query.keywords.items()]
    for name, wanted in pairs:
        if wanted is ...:
            continue
        value = values[name]
        try:
            if isinstance(wanted, bool | None) or isinstance(value, bool | None):
                if value is not wanted:
                    return False
            elif not _equals(repr(wanted)).holds({"given": value}, objects):
                return False
        except (Unknown, NotThere, InputError, *FAILURES):
            return False
    return True


def find_exceptions(events: Events, *, max_matches: int = MATCHES) -> Findings:
    """The events at which an exception was raised. One that passes through several frames counts once."""
    findings = Findings(events.recording.id, "exceptions")
    passing = False
    pending: list[tuple[Match, dict[str, Encoded]]] = []
    columns = ("kind", "function", "file", "line", "value")
    for index, (kind, function, file, line, value) in enumerate(events.columns(*columns)):
        if kind == "raise" and not passing and value:
            findings.events += 1
            findings.stretches += 1
            if len(pending) < max_matches:
                match = Match(index, index, file, line, function)
                pending.append((match, {"exception": loads(value)}))
        passing = kind == "unwind"
    findings.matches = _with_values(events, pending)
    return findings


def find_output(events: Events, text: str, *, max_matches: int = MATCHES) -> Findings:
    """The events before which the program had written a text to standard output, also in several pieces.

    The line is the one that ran before the event. Raises InputError for an empty text.
    """
    if not text:
        raise InputError("--output: the text is empty.")
    findings = Findings(events.recording.id, f"output {text!r}")
    tail = ""
    before = ("", 0, "")
    for index, (function, file, line, output) in enumerate(
        events.columns("function", "file", "line", "output")
    ):
        if output:
            written = tail + output
            count = written.count(text)
            findings.events += count
            findings.stretches += bool(count)
            if count and len(findings.matches) < max_matches:
                place = written.index(text)
                shown = written[written.rfind("\n", 0, place) + 1 :].partition("\n")[0]
                file_, line_, function_ = before
                values = {"output": repr(shown[:VALUE_CHARS])}
                findings.matches.append(Match(index, index, file_, line_, function_, values))
            keep = len(text) - 1
            after = written.rfind(text) + len(text) if count else 0
            tail = written[max(after, len(written) - keep) :] if keep else ""
        before = (file, line, function)
    return findings
