"""A recording: a program, how its run ended, and the trace of every thread."""

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, overload

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Environment, Mode, Program
from deskcheck.recording.trace import Kind, Trace
from deskcheck.recording.value import Value, decode, loads, render

_NUMBER = re.compile(r"#\d+")
SAID_CHARS = 80
"""Longest text of a result or an ending in the `repr` of a recording."""
REFUSED = "the sandbox refused it something"
UNTRACED = "without the tracer: "
"""The beginning of a difference that only the run without the tracer shows."""
CUT_WORDS = {
    "events": "the limit on events was reached",
    "recursion": "the limit on recursion was near",
    "untraced": "the program removed the trace function",
    "subinterpreters": "the program started a subinterpreter",
    "failure": "the tracer failed",
    "bytes": "it was too large",
    "ended": "the process had ended",
}
"""Value of `RunResult.cut` -> its meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How one run ended, decided by the process that watched it. Output is cut at the output limit."""

    outcome: Outcome
    detail: str = ""
    """The exception with its message, or the limit that was reached."""
    exception: str | None = None
    result: str | None = None
    """Rendering of the value that the call returned; None for a run without a result. It is the `repr` if
    `result_builtin`. Else its identity numbers count from 1; those of `Recording.result` are the trace's.
    Both the value and the return are the program's claim (docs/explanation/how-it-works.md)."""
    result_builtin: bool = False
    stdout: str = ""
    stderr: str = ""
    exit_status: int | None = None
    """Status of the process, negative for a signal; None for a run in this process."""
    cpu_s: float | None = None
    wall_s: float | None = None
    cut: str | None = None
    """Why events are missing at the end of the trace, or None."""
    sources: dict[str, str] = field(default_factory=dict)
    """Text of the recorded files other than the program's own, by the name used in events."""
    packages: dict[str, str] = field(default_factory=dict)
    refused: dict[str, int] | None = None
    """System calls that the sandbox refused and paths that the program was not allowed to open, with counts.
    None if they are not known."""
    files: dict[str, str] = field(default_factory=dict)
    """Files that the program left in its folder -> digests of their contents, if the caller asked for them.
    Used to compare runs, and not stored."""
    reads: tuple[str, ...] = ()
    """Unset environment variables that the program asked for, of a run in another process. Not stored."""

    def to_dict(self) -> dict[str, Any]:
        """The fields that are stored."""
        row = asdict(self)
        del row["files"], row["reads"]
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recorded run: the program, its ending, and its traces."""

    program: Program
    run_result: RunResult
    environment: Environment
    traces: tuple[Trace, ...]
    repeatable: bool | None = None
    """Whether two further runs gave the same result: one with a different hash seed, one without the tracer.
    None if that was not tried."""
    difference: str | None = None
    """The first difference in these runs."""

    @property
    def id(self) -> str:
        return self.program.id

    @property
    def outcome(self) -> Outcome:
        return self.run_result.outcome

    @property
    def trace(self) -> Trace:
        """The trace of the main thread."""
        return self.traces[0]

    @property
    def doubt(self) -> str | None:
        """Why the program may behave differently elsewhere, in a few words; None without a reason for doubt.

        `difference` and `RunResult.refused` have the details.
        """
        if self.repeatable is not False:
            return REFUSED if self.run_result.refused else None
        if (self.difference or "").startswith(UNTRACED):
            return "it ends differently without the tracer"
        return "not repeatable"

    @property
    def result_value(self) -> Value | None:
        """The value that the call returned, from the last event of its frame; None if it is not known.

        It is not known for other modes and outcomes, in a trace that was cut, and if the frame of the call
        was not recorded.
        """
        if self.program.mode is not Mode.CALL or self.outcome is not Outcome.RETURNED or not self.trace.rows:
            return None
        last = self.trace.rows[-1]
        if last.kind != Kind.RETURN or last.frame != 0 or last.value is None:
            return None
        try:
            value = decode(loads(last.value), {})
        except KeyError:  # it refers to objects: only the state, computed from the whole trace, has those
            last_value = self.trace[-1].value
            assert last_value is not None
            value = last_value
        # A decorator that is not recorded can return another value than its function.
        return None if value.builtin and render(value) != self.run_result.result else value

    @property
    def result(self) -> str | None:
        """`RunResult.result` with the identity numbers of the trace, so that events name the same objects.

        If the trace does not show the same value, the numbers count from 1.
        """
        text = self.run_result.result
        if text is None or self.run_result.result_builtin or not _NUMBER.search(text):
            return text
        value = self.result_value
        if value is None:
            return text
        rendered = render(value)
        pairs = list(zip(_NUMBER.findall(text), _NUMBER.findall(rendered), strict=False))
        one_to_one = len({a for a, _ in pairs}) == len(set(pairs)) == len({b for _, b in pairs})
        return rendered if one_to_one and _NUMBER.sub("#", rendered) == _NUMBER.sub("#", text) else text

    def source(self, file: str) -> str | None:
        """Text of a file that events name; None if the recording does not have it."""
        if file == self.program.filename:
            return self.program.code
        return self.run_result.sources.get(file)

    @property
    def events(self) -> int:
        """Number of recorded events, in all threads."""
        return sum(map(len, self.traces))

    # -- for people --

    def view(self, *, browser: bool | None = None, max_events: int = 200) -> None:
        """Show the trace page in a browser, or else the trace table.

        Like `deskcheck view`, it opens a browser only from a terminal of a desktop. A notebook shows the page
        below the cell. Pages of more than 200,000 events are served until Ctrl-C.

        browser: True or False to decide yourself.
        max_events: the number of rows in the table.

        Raises InputError if the page cannot be written.
        """
        _view("showing").show(self, browser=browser, max_events=max_events)

    @overload
    def to_html(self, path: None = None) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str]) -> Path: ...
    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | Path:
        """The trace page as one self-contained HTML text; with a path, the file that it was written into.

        Raises InputError if the file cannot be written.
        """
        if path is None:
            return "".join(_view("trace_page").trace_page(self))
        _view("trace_page").write_trace_page(self, Path(path))
        return Path(path)

    def save(self, folder: str | os.PathLike[str], *, id: str | None = None) -> str:
        """Add the recording to a folder of recordings; returns its id there. The folder is made if needed.

        Nothing in the folder is overwritten: if the id is taken, it gets a number, such as ``name-2``.
        ``deskcheck view FOLDER ID`` shows the recording, and `Recordings` reads it back.

        id: a new id for the recording; it must not be taken.

        Raises:
            InputError: the path is a file, or something in the recording cannot be saved.
            RecordingError: the folder cannot be written to.
        """
        import deskcheck

        return deskcheck.save_recording(self, folder, id=id)

    def _repr_html_(self) -> str:
        """The page that a notebook shows: the trace page, or the beginning of a long trace."""
        page: str = _view("inline").inline_page(self)
        return page

    def __repr__(self) -> str:
        result, detail = self.run_result.result, self.run_result.detail
        parts = [f"{self.outcome} {_one_line(detail if result is None else result)}"]
        if result is not None and detail:
            parts.append(_one_line(detail))
        threads = f" in {len(self.traces)} threads" if len(self.traces) > 1 else ""
        parts.append(f"{self.events:,} event{'' if self.events == 1 else 's'}{threads}")
        cut = self.run_result.cut
        if cut is not None:
            parts.append(f"the rest is missing: {CUT_WORDS.get(cut, cut)}")
        if self.environment.limits:
            parts.append(", ".join(f"{name}={value!r}" for name, value in self.environment.limits.items()))
        return f"<Recording {self.program.id}: {', '.join(part.strip() for part in parts)}>"


def _view(module: str) -> Any:
    """A module of `deskcheck.view`, imported on first use because `deskcheck.view` imports this module."""
    return import_module(f"deskcheck.view.{module}")


def refused_text(refused: Mapping[str, int]) -> str:
    """The refused calls and paths, the most frequent first: ``socket 3 times, /etc/hosts``."""
    counts = sorted(refused.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(
        f"{_one_line(name)} {count} times" if count > 1 else _one_line(name) for name, count in counts
    )


def check_refused(refused: Any) -> None:
    """Raises ValueError if a count in a file is not a number."""
    if refused is not None and not all(type(count) is int for count in refused.values()):
        raise ValueError("'refused' counts something that is not a number")


def _one_line(text: str) -> str:
    """The beginning of a text, with an escape for everything that does not print."""
    printable = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[:SAID_CHARS])
    return printable + ("..." if len(text) > SAID_CHARS else "")
