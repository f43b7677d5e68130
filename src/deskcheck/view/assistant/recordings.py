"""The tools of the MCP server that record programs and answer questions about recordings.

Programs run only in the sandbox, at the level of the user, and only files in the folder of the server are
run. An answer is bounded in tokens and marked as data that is not trusted; secrets are masked in it.
"""

import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

from deskcheck.errors import InputError
from deskcheck.recorder.filters.masking import mask_around
from deskcheck.recorder.program_input import ProgramInput, with_input
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.record import script_of
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.program import Program
from deskcheck.recording.reader import Recordings
from deskcheck.recording.recording import Recording, refused_text
from deskcheck.recording.trace import Row
from deskcheck.recording.value import decode, loads, render
from deskcheck.sandbox.inside.main_module import MODULE, WITH_MODULES
from deskcheck.view.assistant.answers import bounded, marked
from deskcheck.view.queries import find as queries
from deskcheck.view.queries.diff import diff
from deskcheck.view.queries.statements import SourceStatements
from deskcheck.view.queries.threads import trace_of
from deskcheck.view.queries.why import CODE, Answer, ValueCause, why

_PYTEST = "pytest/__main__.py"
_VALUE_CHARS = 100
_OUTPUT_LINES = 20
_LEAVES = frozenset({"return", "yield", "unwind"})
_BY_ITSELF = 3
"""Calls of one function in a row that are shown; the others are counted."""


class RecordingTools:
    """Records programs below the working directory, and answers about recordings there.

    out: folder for the recordings; by default one that is removed at the end. settings: for all recordings.
    """

    def __init__(self, out: Path | None = None, settings: RecordSettings | None = None) -> None:
        self.settings = replace(settings or RecordSettings(), repeat=False)
        self.root = Path.cwd()
        self._scratch = tempfile.TemporaryDirectory(prefix="deskcheck-mcp-") if out is None else None
        self.out = Path(self._scratch.name if self._scratch is not None else out or ".").resolve()
        self._lock = Lock()

    def close(self) -> None:
        """Remove the recordings, unless the user wants to keep them."""
        if self._scratch is not None:
            self._scratch.cleanup()

    def answer(self, lines: Iterator[str], tokens: int, narrower: str) -> str:
        """The text of an answer."""
        mask = mask_around(str(self.root)) if self.settings.mask else None
        text = bounded(lines if mask is None else map(mask.text, lines), tokens, narrower)
        return marked(text)

    # -- recording --

    def inside(self, name: str) -> Path:
        """A file or folder below the working directory, by its path relative to it. Raises InputError."""
        path = (self.root / name).resolve()
        if not path.is_relative_to(self.root.resolve()) and not path.is_relative_to(self.out):
            raise InputError(f"{name}: is outside of {self.root}, the folder of this server.")
        if not path.exists():
            raise InputError(f"{name}: does not exist in {self.root}.")
        return path

    def script(self, arguments: Mapping[str, Any]) -> Program:
        """The program that `record_script` runs."""
        name, module = arguments["program"], arguments.get("module", False)
        if not module:
            self.inside(name)
        text = arguments.get("stdin")
        program_input = ProgramInput(
            module=module,
            arguments=tuple(arguments.get("arguments", ())),
            stdin=None if text is None else text.encode("utf-8", "surrogatepass"),
        )
        program = script_of([name], program_input, lambda text: None)
        return replace(program, extra=program.extra | {WITH_MODULES: True})

    def test(self, test_id: str) -> Program:
        """The program that runs one test."""
        file = test_id.partition("::")[0]
        self.inside(file)
        if test_id.startswith("-"):
            raise InputError(f"{test_id}: is not the id of a test. Write tests/test_x.py::test_name.")
        program = Program(
            id=test_id,
            code="",
            filename=_PYTEST,
            path=str(self.root),
            source="pytest",
            extra={"script": True, "run": MODULE, "folder": str(self.root)},
        )
        options = ("-q", "--no-header", "--tb=no", "-s", "-p", "no:cacheprovider", test_id)
        return with_input(program, ProgramInput(module=True, arguments=options))

    def record(self, program: Program) -> tuple[Recording, queries.Events]:
        """The recording of a program, with an id that is free, and its events."""
        with self._lock:
            ids = {*Recordings(self.out).ids} if any(self.out.glob("*")) else set()
            number = next(n for n in range(1, len(ids) + 2) if f"r{n}" not in ids)
            program = replace(program, id=f"r{number}")
            summary = record_programs([program], self.out, self.settings, workers=1, explain=False)
        if program.id in summary.problems:
            raise InputError(f"{program.id}: {summary.problems[program.id]}")
        return self.opened(program.id)

    def opened(self, name: str, thread: int = 0) -> tuple[Recording, queries.Events]:
        """A recording by its id, ``FOLDER``, or ``FOLDER::ID``, and its events."""
        folder, _, recording_id = name.partition("::")
        if not recording_id and re.fullmatch(r"r\d+", folder):
            path, recording_id = self.out, folder
        else:
            path = self.inside(folder)
        recordings = Recordings(path)
        if not recording_id and len(recordings.ids) != 1:
            listed = ", ".join(recordings.ids[:10])
            raise InputError(f"{folder}: has {len(recordings.ids)} recordings: give {folder}::ID. {listed}")
        recording = recordings.named(recording_id) if recording_id else recordings[recordings.ids[0]]
        trace_of(recording, thread)
        return recording, queries.Events(recording, recordings, thread)


# -- record_script, record_test ----------------------------------------------------------------------


def record_script(tools: RecordingTools, arguments: Mapping[str, Any]) -> str:
    recording, events = tools.record(tools.script(arguments))
    return tools.answer(_ending(recording, events), arguments.get("tokens", 600), "Ask about one event.")


def record_test(tools: RecordingTools, arguments: Mapping[str, Any]) -> str:
    recording, events = tools.record(tools.test(arguments["test"]))
    return tools.answer(_ending(recording, events), arguments.get("tokens", 600), "Ask about one event.")


def _ending(recording: Recording, events: queries.Events) -> Iterator[str]:
    """How a run ended, where an exception was raised, and the last lines of its output."""
    result = recording.run_result
    yield f"{recording!r}"[1:-1]
    index = failing_event(events)
    if index is not None:
        rows, statements = recording.trace.rows, SourceStatements(recording)
        row = rows[index]
        yield f"exception at event {index}: {_value(recording, index)}"
        yield f"  {_place(row, statements)}"
        yield from _names(recording, index, row.frame)
    if result.refused:
        yield f"the sandbox refused it: {refused_text(result.refused)}"
    for name, text in (("output", result.stdout), ("standard error", result.stderr)):
        lines = text.rstrip().splitlines()
        if recording.outcome == "raised" and name == "standard error":
            continue  # it is the traceback
        if lines:
            more = len(lines) - _OUTPUT_LINES
            yield f"{name}:" if more <= 0 else f"{name}, without the first {more:,} lines:"
            yield from (f"  {line[:300]}" for line in lines[-_OUTPUT_LINES:])


def failing_event(events: queries.Events) -> int | None:
    """The event that raised the last exception, but for the one by which pytest exits; None without one."""
    last, before = None, ""
    for index, (kind, file) in enumerate(events.columns("kind", "file")):
        if kind == "raise" and before != "unwind" and file != _PYTEST:
            last = index
        before = kind
    return last


def _place(row: Row, statements: SourceStatements) -> str:
    code = statements.line(row.file, row.line)
    return f"line {row.line} of {row.file} in {row.function}" + (f": `{code}`" if code else "")


def _value(recording: Recording, index: int, thread: int = 0) -> str:
    row = recording.traces[thread].rows[index]
    if row.value is None:
        return "nothing"
    return render(decode(loads(row.value), recording.traces[thread].state(index).objects), max_chars=200)


def _names(
    recording: Recording, index: int, frame: int, names: Sequence[str] = (), thread: int = 0
) -> Iterator[str]:
    """A line for each name of a frame."""
    state = recording.traces[thread].state(index)
    if frame not in state.frames:
        return
    for name, value in state.names(frame).items():
        if (name.isidentifier() and not name.startswith("__") and not _is_definition(value, state)) or (
            name in names
        ):
            if names and name not in names:
                continue
            limit = 10 * _VALUE_CHARS if names else _VALUE_CHARS
            yield f"    {name} = {render(decode(value, state.objects), max_chars=limit)}"


def _is_definition(value: Any, state: Any) -> bool:
    """Whether a value is a function, class or module, which its source shows better."""
    if not isinstance(value, dict):
        return False
    content = state.objects.get(value["ref"], {}) if "ref" in value else value
    return content.get("kind") in ("function", "class") or content.get("type") in CODE


# -- outline -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Called:
    """A recorded call."""

    event: int
    function: str
    place: str
    inner: "list[_Called]"
    last: int | None = None
    how: str = "has not ended"

    def count(self) -> int:
        return sum(1 + call.count() for call in self.inner)


def outline(tools: RecordingTools, arguments: Mapping[str, Any]) -> str:
    tokens, thread = arguments.get("tokens", 1000), arguments.get("thread", 0)
    recording, events = tools.opened(arguments["recording"], thread)
    roots = _calls(events)
    begin = arguments.get("event")
    if begin is not None:
        roots = [call for call in _all(roots) if call.event == begin]
        if not roots:
            raise InputError(
                f"event {begin}: does not begin a call. `outline` without event lists the calls."
            )
    depth = arguments.get("depth") or _fitting(roots, max(tokens // 35, 5))
    lines = [*_outline_lines(roots, depth, 0)]
    return tools.answer(
        _with_results(recording, lines, thread), tokens, "Give event= of one call, or a smaller depth."
    )


def _calls(events: queries.Events) -> list[_Called]:
    roots: list[_Called] = []
    frames: dict[int, _Called] = {}
    active: list[_Called] = []
    for index, (kind, frame, function, file, line) in enumerate(
        events.columns("kind", "frame", "function", "file", "line")
    ):
        if kind == "call":
            parent = active[-1] if active else None
            call = _Called(index, function, f"{file}:{line}", [])
            (roots if parent is None else parent.inner).append(call)
            frames[frame] = call
            active.append(call)
        elif kind == "resume" and frame in frames:
            active.append(frames[frame])
        elif kind in _LEAVES and frame in frames:
            call = frames[frame]
            call.last, call.how = index, {"return": "->", "yield": "yielded"}.get(kind, "raised")
            if active and active[-1] is call:
                active.pop()
    return roots


def _all(calls: Sequence[_Called]) -> Iterator[_Called]:
    for call in calls:
        yield call
        yield from _all(call.inner)


def _fitting(roots: Sequence[_Called], max_lines: int) -> int:
    """The largest depth at which the tree has at most `max_lines` lines."""
    level, total, depth = list(roots), 0, 0
    while level:
        total += len(level)
        if total > max_lines and depth:
            break
        depth += 1
        level = [call for parent in level for call, _ in _in_rows(parent.inner) if call is not None]
    return max(depth, 1)


def _in_rows(calls: Sequence[_Called]) -> Iterator[tuple[_Called | None, list[_Called]]]:
    """The calls. Of many in a row of one function only some are single: (None, the others)."""
    start = 0
    while start < len(calls):
        end = start
        while end < len(calls) and calls[end].function == calls[start].function:
            end += 1
        same = calls[start:end]
        expanded = same if len(same) <= _BY_ITSELF + 1 else [*same[: _BY_ITSELF - 1]]
        yield from ((call, []) for call in expanded)
        if len(expanded) < len(same):
            yield None, [*same[len(expanded) : -1]]
            yield same[-1], []
        start = end


def _outline_lines(
    calls: Sequence[_Called], depth: int, indent: int
) -> Iterator[tuple[str, _Called | None, str]]:
    """Beginning of a line, its call, and its end."""
    for call, hidden in _in_rows(calls):
        if call is None:
            text = f"... {len(hidden):,} more calls of {hidden[0].function}"
            yield f"{'  ' * indent}{text} (events {hidden[0].event} to {hidden[-1].last})", None, ""
            continue
        inside = call.count()
        folded = f" ({inside:,} calls inside)" if inside and depth <= 1 else ""
        yield "  " * indent, call, folded
        if depth > 1:
            yield from _outline_lines(call.inner, depth - 1, indent + 1)


def _with_results(
    recording: Recording, lines: Sequence[tuple[str, _Called | None, str]], thread: int
) -> Iterator[str]:
    """The lines of an outline, with arguments and results."""
    trace = recording.traces[thread]
    for begin, call, end in lines:
        if call is None:
            yield begin
            continue
        state, row = trace.state(call.event), trace.rows[call.event]
        values = loads(row.locals) if row.locals and call.function != "<module>" else {}
        texts = [
            f"{name}={render(decode(value, state.objects), max_chars=40)}"
            for name, value in values.items()
            if name.isidentifier() and not (isinstance(value, dict) and "unbound" in value)
        ]
        result = call.how if call.last is None else f"{call.how} {_value(recording, call.last, thread)[:80]}"
        if call.how == "raised" and call.last is not None:
            result = "raised"
        last = "" if call.last is None else f"-{call.last}"
        yield f"{begin}{call.function}({', '.join(texts)}) {result}  [{call.place}, {call.event}{last}]{end}"


# -- state_at, why, find, diff, source ----------------------------------------------------------------


def state_at(tools: RecordingTools, arguments: Mapping[str, Any]) -> str:
    thread, index = arguments.get("thread", 0), arguments["event"]
    recording, _ = tools.opened(arguments["recording"], thread)
    trace = recording.traces[thread]
    if not 0 <= index < len(trace):
        raise InputError(f"event {index}: the thread has events 0 to {len(trace) - 1}.")
    return tools.answer(
        _state_lines(recording, index, arguments.get("names", ()), thread),
        arguments.get("tokens", 1000),
        "Give names=.",
    )


def _state_lines(recording: Recording, index: int, names: Sequence[str], thread: int) -> Iterator[str]:
    trace, statements = recording.traces[thread], SourceStatements(recording)
    row, state = trace.rows[index], trace.state(index)
    about = {"line": "next runs", "call": "called", "resume": "continues"}.get(row.kind, row.kind)
    value = f" {_value(recording, index, thread)}" if row.value else ""
    yield f"event {index} of {len(trace):,}, {about}{value}: {_place(row, statements)}"
    active = state.active if row.frame in state.active else (*state.active, row.frame)
    for frame in reversed(active):
        frame_state = state.frames.get(frame)
        if frame_state is None:
            continue
        if frame != row.frame:
            yield f"  called from line {frame_state.line} of {frame_state.file} in {frame_state.function}"
        yield from _names(recording, index, frame, names, thread)
    file = row.file
    if row.function != "<module>" and file in state.globals:
        yield f"  variables of {file}"
        for name, value_ in state.globals[file].items():
            is_listed = name in names if names else not _is_definition(value_, state)
            if is_listed and not name.startswith("__"):
                yield f"    {name} = {render(decode(value_, state.objects), max_chars=_VALUE_CHARS)}"


def why_value(tools: RecordingTools, arguments: Mapping[str, Any]) -> str:
    recording, events = tools.opened(arguments["recording"], arguments.get("thread", 0))
    event, expression = arguments.get("event"), arguments.get("expression")
    if event is None and expression is None:
        event = failing_event(events)
    answer = why(
        recording,
        expression,
        at=event,
        steps=arguments.get("steps", 12),
        thread=arguments.get("thread", 0),
        conditions=True,
    )
    return tools.answer(_chain(answer), arguments.get("tokens", 1000), "Give fewer steps, or event=.")


def _chain(answer: Answer) -> Iterator[str]:
    """The steps of an answer as a tree: a value, its event and line, and the line's text where it is new."""
    children: dict[int | None, list[ValueCause]] = {}
    for step in answer.steps:
        children.setdefault(step.parent, []).append(step)
    shown_places: set[str] = set()

    def tree(parent: int | None, depth: int) -> Iterator[str]:
        for step in children.get(parent, ()):
            position = f"{step.file}:{step.line}"
            code = f" `{step.statement}`" if step.statement and position not in shown_places else ""
            shown_places.add(position)
            how = "" if step.how in ("assigned", "changed") else f", {step.how}"
            where = "" if step.event is None else f"  @{step.event}{how} {position}{code}"
            note = re.sub(_NOT_RECORDED, r" (\1: not recorded)", step.unknown or "")
            yield f"{'  ' * depth}{step.expression} = {step.value}{where}{' ' * (note[:1] > '(')}{note}"
            yield from tree(step.number, depth + 1)

    yield from tree(None, 0)
    if answer.more:
        yield f"({answer.more} more values were read there: steps=)"


_NOT_RECORDED = r"^(.*) (?:is|are) C or library code: what happens inside is not recorded\.$"


def find(tools: RecordingTools, arguments: Mapping[str, Any]) -> str:
    functions = {
        "expression": queries.find,
        "changes": queries.find_changes,
        "calls": queries.find_calls,
        "output": queries.find_output,
    }
    asked = {name: arguments[name] for name in functions if name in arguments}
    exceptions = arguments.get("exceptions", False)
    if len(asked) + exceptions != 1:
        raise InputError("give one of expression, changes, calls, exceptions and output.")
    _, events = tools.opened(arguments["recording"], arguments.get("thread", 0))
    max_matches = arguments.get("max_matches", 10)
    if exceptions:
        findings = queries.find_exceptions(events, max_matches=max_matches)
    else:
        ((name, text),) = asked.items()
        findings = functions[name](events, text, max_matches=max_matches)
    lines = (line.replace("(--max-matches)", "(max_matches=)") for line in findings.lines())
    return tools.answer(lines, arguments.get("tokens", 1000), "Ask for something narrower.")


def difference(tools: RecordingTools, arguments: Mapping[str, Any]) -> str:
    thread = arguments.get("thread", 0)
    (a, _), (b, _) = (tools.opened(arguments[name], thread) for name in ("a", "b"))
    answer = diff(a, b, max_partings=arguments.get("max_partings", 3), thread=thread)
    return tools.answer(answer.lines(), arguments.get("tokens", 1000), "Give a smaller max_partings.")


def source(tools: RecordingTools, arguments: Mapping[str, Any]) -> str:
    recording, events = tools.opened(arguments["recording"], arguments.get("thread", 0))
    files = [recording.program.filename, *sorted(recording.run_result.sources)]
    file = arguments.get("file", files[0] if recording.program.code else (files[1:] or files)[0])
    matches = [name for name in files if name == file] or [name for name in files if name.endswith(file)]
    text = recording.source(matches[0]) if matches else None
    if not text:
        raise InputError(f"{file}: is not in the recording. Its files are {', '.join(files)}.")
    lines = text.splitlines()
    first, last = arguments.get("first", 1), arguments.get("last", len(lines))
    if not 1 <= first <= last:
        raise InputError(f"first={first} and last={last}: {matches[0]} has lines 1 to {len(lines)}.")
    runs: Counter[int] = Counter(
        line
        for kind, name, line in events.columns("kind", "file", "line")
        if (kind, name) == ("line", matches[0])
    )
    numbered = (
        f"{number:4} {f'{runs[number]}x' if runs[number] else '':>6}  {line}"
        for number, line in enumerate(lines[first - 1 : last], first)
    )
    begin = f"{matches[0]}, with the number of times that each line ran"
    return tools.answer(iter([begin, *numbered]), arguments.get("tokens", 1500), "Give first= and last=.")
