"""The exception that leaves a run, and the line that raises it."""

import random
import re
from collections.abc import Iterator

from deskcheck.ask.samples.guessing import guesses, numbered_lines
from deskcheck.ask.samples.kind import kind, sample_of
from deskcheck.ask.samples.places import Unfit, check_arguments, files_of, statements_of
from deskcheck.ask.samples.sample import Sample
from deskcheck.recording import Kind, Outcome, Recording, Value
from deskcheck.recording.raised import raised_message

NO_MESSAGE = "Message: not asked for. Answer LINE: CLASS."


@kind("exception", "which exception leaves the run, and which line raises it?", of_raised=True)
def exception(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    if recording.outcome is not Outcome.RAISED or recording.run_result.exception is None:
        raise Unfit("no exception leaves the run")
    check_arguments(recording.program, "literal", "shown")
    files = files_of(recording)
    lines = statements_of(recording, files)
    file, line = _raised_at(recording)
    shown_lines = {number for source in files if source.file == file for number, _ in source.lines}
    if file not in lines or line not in shown_lines:
        raise Unfit("it is raised in code that is not shown")
    line = lines[file].first.get(line, line)
    name = recording.run_result.exception.rpartition(".")[2]
    message = raised_message(recording.run_result)
    notes = [
        *([f"Line: one of {file}"] if len(files) > 1 else []),
        *([NO_MESSAGE] if message is None else []),
    ]
    yield sample_of(
        recording,
        "exception",
        files,
        "\n".join(notes),
        f"{line}: {name}: {message}" if message else f"{line}: {name}",
        form="exception",
        data={"file": file, "line": line, "exception": name, "message": message},
    )


@guesses("exception")
def _guessed_exception(prompt: str) -> str:
    """The first ``raise`` of the text, with the class that it names; else a TypeError of the last line."""
    numbered = numbered_lines(prompt)
    for line, text in numbered:
        if match := re.match(r"\s*raise\s+([\w.]+)", text):
            return f"{line}: {match[1]}"
    return f"{numbered[-1][0] if numbered else 1}: TypeError"


def _raised_at(recording: Recording) -> tuple[str, int]:
    """The file and line that raised the exception that left the run: the last recorded line of its traceback.

    The number of an exception is valid only within a frame, and a bare ``raise`` has no event. So the search
    goes backward: from the frame that the exception left to its first event there. If that event follows
    directly on a callee that an exception of the same class left, the search continues in the callee.
    """
    rows = recording.trace.rows
    raises: dict[int, list[tuple[int, Value]]] = {}
    for row in rows:
        if row.kind == Kind.RAISE and (value := recording.trace[row.index].value) is not None:
            raises.setdefault(row.frame, []).append((row.index, value))
    leaves = [row.index for row in rows if row.kind == Kind.UNWIND and row.frame == rows[0].frame]
    if not leaves:
        raise Unfit("where it is raised is not recorded")
    raised_at: int | None = None
    frame, before, name = rows[0].frame, leaves[-1], recording.run_result.exception
    while True:
        candidates = [(at, value) for at, value in raises.get(frame, ()) if at <= before]
        last = next((value for _, value in reversed(candidates) if _class(value.type) == _class(name)), None)
        if last is None:
            break
        raised_at = next(
            at for at, value in candidates if value is last or (last.id is not None and value.id == last.id)
        )
        # Thrown into a generator, it goes first to the one that this one delegates to, and then resumes it.
        entered = rows[raised_at - 1].kind == Kind.RESUME and rows[raised_at - 1].frame == frame
        name, unwound = last.type, rows[raised_at - 1 - entered]
        if unwound.kind != Kind.UNWIND or unwound.frame == frame:
            break
        frame, before = unwound.frame, unwound.index
    if raised_at is None:
        raise Unfit("where it is raised is not recorded")
    return rows[raised_at].file, rows[raised_at].line


def _class(name: str | None) -> str:
    return (name or "").rpartition(".")[2]
