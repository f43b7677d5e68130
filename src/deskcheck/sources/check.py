"""The self-check of a folder of recordings.

It checks whether the recordings agree with what their sources state, whether any value shows a memory
address, and whether the state at an event always decides the next event.
"""

import ast
import itertools
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any

from deskcheck.errors import DamagedRows, RecordingError
from deskcheck.files import read_json
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Mode, Program
from deskcheck.recording.reader import Recordings
from deskcheck.recording.recording import Recording
from deskcheck.recording.rules import Checker
from deskcheck.recording.trace import Kind, State, Trace, fingerprint
from deskcheck.sources.generated import SOURCE as GENERATED
from deskcheck.sources.sets import doctests
from deskcheck.sources.sets.published import scored_by_equality

_ENDS_AS_IT_ENDS = {"test", "mutation", "input", "script"}
"""Keys in the `extra` of programs whose result is not known beforehand."""
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{5,}")


@dataclass(slots=True)
class CheckReport:
    """Findings of `check`: recording id -> location or reason."""

    checked: int = 0
    """Number of recordings."""
    events: int = 0
    wrong: dict[str, str] = field(default_factory=dict)
    """Recordings that disagree with their source."""
    not_repeatable: dict[str, str] = field(default_factory=dict)
    cut: dict[str, str] = field(default_factory=dict)
    """Recordings whose last events are missing."""
    addresses: dict[str, str] = field(default_factory=dict)
    ambiguous: dict[str, str] = field(default_factory=dict)
    """Two events with the same full state have different successors."""
    explained: dict[str, str] = field(default_factory=dict)
    """Ambiguous recordings that show the cause: outside input, or the state of a C function."""
    damaged: dict[str, str] = field(default_factory=dict)
    not_followed: int = 0
    """Number of traces that were too long to be checked for ambiguity."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def check(recordings: Iterable[Recording], *, max_events: int = 10_000) -> CheckReport:
    """Check every recording. States are compared only in traces of up to `max_events` events."""
    report = CheckReport()
    for recording in recordings:
        report.checked += 1
        try:
            _look_at(recording, report, max_events)
        except RecordingError as error:
            report.damaged[recording.id] = str(error)
    unreadable = recordings.unreadable if isinstance(recordings, Recordings) else ()
    report.damaged |= {f"unreadable {number}": reason for number, reason in enumerate(unreadable, 1)}
    return report


def _look_at(recording: Recording, report: CheckReport, max_events: int) -> None:
    report.events += sum(len(trace) for trace in recording.traces)
    _check_rows(recording)
    difference = disagreement(recording)
    if difference is not None:
        report.wrong[recording.id] = difference
    if recording.repeatable is False:
        report.not_repeatable[recording.id] = recording.difference or ""
    if recording.run_result.cut is not None:
        report.cut[recording.id] = recording.run_result.cut
    address = shown_address(recording)
    if address is not None:
        report.addresses[recording.id] = address
    for trace in recording.traces:
        if len(trace) > max_events:
            report.not_followed += 1
            continue
        ambiguous = ambiguity(trace)
        if ambiguous is not None:
            where, reason = ambiguous
            if reason is None:
                report.ambiguous[recording.id] = where
            else:
                report.explained[recording.id] = f"{where}: {reason}"


def _check_rows(recording: Recording) -> None:
    """Raise RecordingError for a row that a reader cannot understand, given the rows before it."""
    checker = Checker()
    for trace in recording.traces:
        for row in trace.rows:
            try:
                checker.row(row)
            except (ValueError, OverflowError) as error:
                raise DamagedRows(f"event {row.index} of thread {row.thread}: {error}") from error


def disagreement(recording: Recording) -> str | None:
    """The difference between a recording and what the program's source states; None if they agree.

    A program of a published set must return, with the result, lines and output that the set states. A session
    of doctests must show the output of each example. For calls that a test made, scripts, mutants and
    generated programs nothing is stated.
    """
    program, run_result = recording.program, recording.run_result
    if program.mode is Mode.SESSION and program.expected is not None:
        failing = doctests.check(program.expected, session_outputs(recording))
        return f"examples with different output: {', '.join(failing)}" if failing else None
    if program.expected is None and (
        program.extra.keys() & _ENDS_AS_IT_ENDS or program.source.startswith(GENERATED)
    ):
        return None
    if run_result.outcome is not Outcome.RETURNED:
        return f"{run_result.outcome}: {run_result.detail}"
    if (
        program.mode is Mode.CALL
        and program.expected is not None
        and not _returned(program, run_result.result)
    ):
        return f"returned {run_result.result!r:.80}, not {program.expected!r:.80}"
    return _published(recording)


def _returned(program: Program, result: str | None) -> bool:
    if result == program.expected or result is None or not scored_by_equality(program):
        return result == program.expected
    try:
        return bool(ast.literal_eval(result) == ast.literal_eval(program.expected or ""))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False


def _published(recording: Recording) -> str | None:
    """Like `disagreement`, for the lines and output that the program's row states."""
    extra, run_result = recording.program.extra, recording.run_result
    if (
        printed := extra.get("published_output")
    ) is not None and printed.strip() != run_result.stdout.strip():
        return f"printed {run_result.stdout.strip()!r:.80}, not {printed.strip()!r:.80}"
    lines = extra.get("published_lines")
    if lines is None:
        return None
    file = recording.program.filename
    ran = _once(row.line for row in recording.trace.rows if row.kind == Kind.LINE and row.file == file)
    lines = _once(lines)
    if ran == lines:
        return None
    position = next((k for k, pair in enumerate(zip(ran, lines, strict=False)) if pair[0] != pair[1]), None)
    if position is None:
        return f"{len(ran)} lines run, not {len(lines)}; the first {min(len(ran), len(lines))} are equal"
    return f"line {ran[position]} runs as number {position + 1}, where line {lines[position]} should"


def _once(lines: Iterable[int]) -> list[int]:
    """Lines without immediate repeats.

    How often a comprehension visits its line depends on whether it has its own frame, as up to CPython 3.11.
    """
    return [line for line, _ in itertools.groupby(lines)]


def session_outputs(recording: Recording) -> list[str]:
    """The outputs of a session's statements, in order."""
    wants = read_json(recording.program.expected or "[]", f"{recording.program.id}: expected")
    starts = [want["line"] for want in wants]
    outputs = [""] * len(starts)
    current, chars_shown = -1, 0
    for row in recording.trace.rows if recording.traces else ():
        top = row.function == "<module>" and row.file == recording.program.filename
        if row.output:
            chars_shown += len(row.output)
            if current >= 0:
                outputs[current] += row.output
        if top and row.kind == Kind.LINE:
            current = max((i for i, line in enumerate(starts) if line <= row.line), default=-1)
    if current >= 0:  # an exception of the last statement is shown after the last event
        outputs[current] += recording.run_result.stdout[chars_shown:]
    return outputs


def shown_address(recording: Recording) -> str | None:
    """The event and text of a memory address in a value; None if there is none.

    Addresses in the program's text do not count.
    """
    for trace in recording.traces:
        for row in trace.rows:
            for column in (row.locals, row.stack, row.globals, row.objects, row.caller, row.value):
                match = _ADDRESS.search(column) if column else None
                if match is not None and match.group() not in recording.program.code:
                    return f"event {row.index}: {match.group()}"
    return None


def ambiguity(trace: Trace) -> tuple[str, str | None] | None:
    """Two events with the same full state and different successors; None if there are none.

    The result is a location and a reason. The reason names something outside of the state that decided, as
    far as the recording shows it; otherwise it is None.
    """
    state = State()
    after: dict[bytes, tuple[bytes, int]] = {}
    before: tuple[bytes, int, str | None] | None = None
    explained: tuple[str, str | None] | None = None
    for row in trace.rows:
        state = state.after(row)
        state_digest = blake2b(fingerprint(state).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if before is not None and row.left_out is None:
            key, index, reason = before
            first = after.setdefault(key, (state_digest, index))
            if first[0] != state_digest:
                location = f"events {first[1]} and {index} (line {trace.rows[index].line})"
                reason = reason or _outside(state)
                if reason is None:
                    return location, None
                explained = explained or (location, reason)
        before = (state_digest, row.index, _outside(state))
    return explained


def _outside(state: State) -> str | None:
    """Something outside of the recorded state that may decide the next event, as far as the recording shows
    it."""
    for number in state.active:
        caller = state.frames[number].caller
        if caller is not None and "via" in caller:
            return f"{caller['via']} is running and has internal state"
    for content in state.objects.values():
        if content["kind"] == "opaque":
            return f"it contains an opaque object of type {content['type']}"
        if content["kind"] == "generator" and content.get("fields", {}).get("(state)") == "running":
            return "a generator of unrecorded code is running"
    return None


def summary(report: CheckReport) -> str:
    """The report as a few lines of text."""
    lines = [f"{report.checked} recordings, {report.events} events"]
    for finding, reasons in (
        ("different from their source", report.wrong),
        ("not repeatable", report.not_repeatable),
        ("cut", report.cut),
        ("with an address in a value", report.addresses),
        ("damaged", report.damaged),
        ("with a state that has two different next states", report.ambiguous),
        ("... explained by the recording", report.explained),
    ):
        lines.append(f"{len(reasons):6d} {finding}")
        lines += [f"         {name}: {reason}" for name, reason in list(reasons.items())[:20]]
        if len(reasons) > 20:
            lines.append(f"         ... and {len(reasons) - 20} more")
    return "\n".join(lines)
