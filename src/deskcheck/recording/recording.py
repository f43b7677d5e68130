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
"""Of a result, or of what ended a run, in the `repr` of a recording."""
REFUSED = "the sandbox refused it something"
UNTRACED = "without the tracer: "
"""The beginning of a difference that only the run without the tracer shows."""
CUT_WORDS = {
    "events": "the limit on events was reached",
    "recursion": "the limit on recursion was near",
    "untraced": "the program took the trace function away",
    "subinterpreters": "the program made another interpreter",
    "failure": "the tracer failed",
    "bytes": "it was too large",
    "ended": "the process was gone",
}
"""What `RunResult.cut` means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How one run ended, as decided by whoever watched the process.

    result: the rendering of what the call returned (exactly its `repr` if `result_builtin`; else its
    identity numbers count from 1: `Recording.result` has those of the trace), None for a run that has
    no result; it is the program's own word, as is that it returned (docs/explanation/how-it-works.md).
    detail: the exception with its message, or which limit was reached.
    exit_status: the status of the process, negative for a signal; None in this process.
    stdout and stderr are cut at the output limit.
    """

    outcome: Outcome
    detail: str = ""
    exception: str | None = None
    result: str | None = None
    result_builtin: bool = False
    stdout: str = ""
    stderr: str = ""
    exit_status: int | None = None
    cpu_s: float | None = None
    wall_s: float | None = None
    cut: str | None = None
    """Why events are missing at the end of the trace, or None."""
    sources: dict[str, str] = field(default_factory=dict)
    """Text of the recorded files other than the program's own, by the name used in events."""
    packages: dict[str, str] = field(default_factory=dict)
    refused: dict[str, int] | None = None
    """Names of the system calls that the sandbox refused, with how often it did, and paths that it did not
    let the program open. None where that is not known."""
    files: dict[str, str] = field(default_factory=dict)
    """Files that the program left in its folder, with digests of their content, if the caller asked for them.
    They serve to compare runs and are not stored."""
    reads: tuple[str, ...] = ()
    """Variables of the environment that the program asked for and that are not set, of a run elsewhere. Not
    stored either."""

    def to_dict(self) -> dict[str, Any]:
        """The fields that are stored."""
        row = asdict(self)
        del row["files"], row["reads"]
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A run as it was recorded. Made once, read many times.

    repeatable: whether further runs gave the same: one under another hash seed, and one without the tracer;
    None if that was not tried. `difference` says which of them differs, and where.
    """

    program: Program
    run_result: RunResult
    environment: Environment
    traces: tuple[Trace, ...]
    repeatable: bool | None = None
    difference: str | None = None

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
        """Why the recording may not say what the program does elsewhere, in a few words; None if nothing
        speaks against it. `difference` and `RunResult.refused` have the details."""
        if self.repeatable is not False:
            return REFUSED if self.run_result.refused else None
        if (self.difference or "").startswith(UNTRACED):
            return "it ends differently without the tracer"
        return "not repeatable"

    @property
    def result_value(self) -> Value | None:
        """What the call returned: the value of its frame's last event. None where that is not known:
        for other modes and outcomes, a trace that was cut, a call whose own frame was not recorded.
        """
        if self.program.mode is not Mode.CALL or self.outcome is not Outcome.RETURNED or not self.trace.rows:
            return None
        last = self.trace.rows[-1]
        if last.kind != Kind.RETURN or last.frame != 0 or last.value is None:
            return None
        try:
            value = decode(loads(last.value), {})
        except KeyError:  # it refers to objects: only the state, which takes the whole trace, knows those
            last_value = self.trace[-1].value
            assert last_value is not None
            value = last_value
        # A decorator that is not recorded can return something else than the function under it.
        return None if value.builtin and render(value) != self.run_result.result else value

    @property
    def result(self) -> str | None:
        """`RunResult.result` with the identity numbers of the trace, so that it names objects as events do.
        Where the trace does not tell the same, as it is: its numbers are then its own, from 1."""
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
        """Text of a file that events name; None if it was not kept."""
        if file == self.program.filename:
            return self.program.code
        return self.run_result.sources.get(file)

    @property
    def events(self) -> int:
        """How many events were recorded, in all threads."""
        return sum(map(len, self.traces))

    # -- for people --

    def view(self, *, browser: bool | None = None, max_events: int = 200) -> None:
        """Show the trace page in a browser, or the trace table where none can be opened.

        As `deskcheck view` does: a browser is opened where a person sits at a terminal that has one. In a
        notebook the page is shown below the cell. browser: True or False decides. max_events: rows of the
        table.
        The page of more than 200,000 events is served until Ctrl-C.

        Raises InputError where the page cannot be written.
        """
        _view("showing").show(self, browser=browser, max_events=max_events)

    @overload
    def to_html(self, path: None = None) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str]) -> Path: ...
    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | Path:
        """The trace page: one HTML text that needs nothing else, or the file that it is written into.

        Raises InputError where the file cannot be written.
        """
        if path is None:
            return "".join(_view("trace_page").trace_page(self))
        _view("trace_page").write_trace_page(self, Path(path))
        return Path(path)

    def save(self, folder: str | os.PathLike[str], *, id: str | None = None) -> str:
        """Add the recording to a folder of recordings, which is made if need be; returns its id there.

        What is in the folder stays: a recording whose id is taken there gets a number, as ``name-2``.
        ``deskcheck view FOLDER ID`` shows it, `Recordings` reads it back. id: instead of its own; it must be
        free in the folder.

        Raises:
            InputError: the path is a file, or something in the recording cannot be saved.
            RecordingError: the folder cannot be written to.
        """
        import deskcheck

        return deskcheck.save_recording(self, folder, id=id)

    def _repr_html_(self) -> str:
        """What a notebook shows: the trace page, of a long trace its beginning."""
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
    """A module of `deskcheck.view`. That folder imports this one, so it is found by name, on first use."""
    return import_module(f"deskcheck.view.{module}")


def refused_text(refused: Mapping[str, int]) -> str:
    """What was refused, the most frequent first: ``socket 3 times, /etc/hosts``."""
    counts = sorted(refused.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(
        f"{_one_line(name)} {count} times" if count > 1 else _one_line(name) for name, count in counts
    )


def check_refused(refused: Any) -> None:
    """Raises ValueError where a file says something else than names and numbers."""
    if refused is not None and not all(type(count) is int for count in refused.values()):
        raise ValueError("'refused' counts something that is not a number")


def _one_line(text: str) -> str:
    """The beginning of a text, with an escape for everything that does not print."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[:SAID_CHARS])
    return shown + ("..." if len(text) > SAID_CHARS else "")
