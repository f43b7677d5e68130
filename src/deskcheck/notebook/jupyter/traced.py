"""``%%deskcheck trace``: the cell runs as it would without that line, and is recorded.

An input transformer replaces the line by an empty one, so IPython runs the rest as any cell: in the user's
namespace, with its last value shown, `await` at the top, and its exception. The recording begins and ends
with IPython's events. Functions of earlier cells are recorded too, imported ones are not.
"""

import linecache
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Mode, Program
from deskcheck.recording.recording import Recording, RunResult
from deskcheck.recording.value import decode, render
from deskcheck.tracer import Granularity, TraceLimits, tracer_class
from deskcheck.tracer.call import names_of_ipython, recording_of, traces_of
from deskcheck.tracer.result import exception_text, snapshot
from deskcheck.tracer.stdout import StdoutHearing

CELL = "cell"
"""The cell's code in events. That of earlier cells is ``In[3]``, as in IPython's tracebacks."""


class TracedCells:
    """Traces cells of one shell. parse: reads the words after ``%%deskcheck``, and returns None if they do
    not request a trace."""

    def __init__(self, shell: Any, parse: Callable[[str], Namespace | None]) -> None:
        self.shell = shell
        self._parse = parse
        self._now: _TracedCell | None = None
        shell.input_transformers_cleanup.append(self._without_the_line)
        shell.events.register("pre_run_cell", self._begins)
        shell.events.register("post_run_cell", self._ended)

    def unload(self) -> None:
        self.shell.input_transformers_cleanup.remove(self._without_the_line)
        self.shell.events.unregister("pre_run_cell", self._begins)
        self.shell.events.unregister("post_run_cell", self._ended)

    def _asked(self, lines: list[str]) -> Namespace | None:
        """The options in a cell's first line. None: no trace, or the magic reports an error."""
        magic, _, words = lines[0].strip().partition(" ") if lines else ("", "", "")
        if magic != "%%deskcheck" or is_magic("".join(lines[1:])):
            return None
        return self._parse(words)

    def _without_the_line(self, lines: list[str]) -> list[str]:
        return ["\n", *lines[1:]] if self._asked(lines) is not None else lines

    def _begins(self, info: Any) -> None:
        raw = info.raw_cell or ""
        options = self._asked(raw.lstrip("\n").splitlines(keepends=True))
        if options is None or self._now is not None:
            return
        if sys.gettrace() is not None:
            print("deskcheck: not traced: a debugger or another trace function is active.", file=sys.stderr)
            return
        self._now = _TracedCell(self.shell, info, options)

    def _ended(self, result: Any) -> None:
        now = self._now
        if now is None or (result is not None and result.info is not now.info):
            return  # a cell inside the cell has ended
        self._now = None
        recording = now.recording(result)
        if recording is None:
            return
        if now.options.name is not None:
            self.shell.user_ns[now.options.name] = recording
        recording.view(browser=None if hasattr(self.shell, "kernel") else False)


class _TracedCell:
    """One cell that is being recorded."""

    def __init__(self, shell: Any, info: Any, options: Namespace) -> None:
        self.shell = shell
        self.info = info
        self.options = options
        self.blocks: list[bytes] = []
        self.written: list[str] = []
        self.files = self._files()
        self.tracer = tracer_class()(
            self.files,
            self.blocks.append,
            modules={"__main__"},
            limits=TraceLimits(
                events=options.max_events,
                call_depth=options.call_depth,
                repetitions=options.max_repetitions,
                only=tuple(options.only),
            ),
            granularity=Granularity(options.granularity),
            hidden=names_of_ipython(shell.user_ns),
        )
        self.stdout = StdoutHearing(self.written.append, self.tracer.wrote)
        self.stdout.on()
        self.tracer.start()

    def _files(self) -> dict[str, str]:
        """File of this cell's code and of earlier cells -> its name in events."""
        compiler, raw = self.shell.compile, self.info.raw_cell
        earlier = getattr(compiler, "_filename_map", {})
        files = {name: f"In[{number}]" for name, number in earlier.items()}
        # Some versions of IPython count the cell before this event, others after it.
        code, count = self.shell.transform_cell(raw), self.shell.execution_count
        return files | {compiler.get_code_name(raw, code, n): CELL for n in (count - 1, count)}

    def recording(self, result: Any) -> Recording | None:
        """The recording of the ended cell. None if no line of it ran."""
        self.tracer.stop()
        self.stdout.off()
        if self.tracer.failure is not None:
            print(f"deskcheck: the tracer failed: {self.tracer.failure!r}", file=sys.stderr)
            return None
        if not self.blocks:
            return None
        traces = traces_of(self.blocks, self.tracer.cut)
        named = {row.file for trace in traces for row in trace.rows}
        sources = {
            label: text
            for file, label in self.files.items()
            if label in named and (text := "".join(linecache.getlines(file)))
        }
        program = Program(
            id=CELL, code=sources.pop(CELL, ""), mode=Mode.SESSION, filename=CELL, source="notebook"
        )
        run_result = replace(
            _ending(result), stdout="".join(self.written), cut=self.tracer.cut, sources=sources
        )
        return recording_of(program, run_result, self.tracer, traces, self.options.granularity)


def _ending(result: Any) -> RunResult:
    error = getattr(result, "error_in_exec", None)
    if error is not None:
        outcome = Outcome.EXITED if isinstance(error, SystemExit) else Outcome.RAISED
        return RunResult(outcome=outcome, exception=type(error).__qualname__, detail=exception_text(error))
    result_value = getattr(result, "result", None)
    if result_value is None:
        return RunResult(outcome=Outcome.RETURNED)
    value = decode(*snapshot(result_value))
    return RunResult(outcome=Outcome.RETURNED, result=render(value), result_builtin=value.builtin)


def is_magic(code: str) -> bool:
    """Whether the code is given to another cell magic."""
    return code.lstrip().startswith("%%")
