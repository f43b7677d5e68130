"""``pytest --deskcheck``: watches tests, writes pages, and links them at the end.

The process that ran a test writes its page. Under pytest-xdist the path is sent with the report.
"""

import contextlib
import hashlib
import re
import shlex
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from deskcheck.pytest_plugin.watching import Watch, WatchedCall
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Environment, Mode, Program
from deskcheck.recording.recording import Recording, RunResult
from deskcheck.recording.trace import Kind, Trace
from deskcheck.recording.value import render
from deskcheck.sandbox.inside.calls import Project
from deskcheck.tracer import TraceLimits
from deskcheck.tracer.call import traces_of
from deskcheck.tracer.result import exception_text
from deskcheck.view.page import visible
from deskcheck.view.queries.opening import opening_event
from deskcheck.view.trace_page import write_trace_page

_SAID_CHARS = 100
_NAME_CHARS = 100


def register(config: pytest.Config) -> None:
    """Register the hooks. The process that starts the others chooses the folder for all of them."""
    option = config.option
    if option.deskcheck_events < 1 or option.deskcheck_repetitions < 1:
        raise pytest.UsageError("--deskcheck-events and --deskcheck-repetitions must be at least 1")
    if option.deskcheck_folder is None:
        option.deskcheck_folder = str(_folder(config))
    config.pluginmanager.register(FailedTestPages(config), "deskcheck-pages")


def _folder(config: pytest.Config) -> Path:
    """A folder of pytest's cache, or a temporary one if that cannot be used."""
    cache = getattr(config, "cache", None)
    if cache is not None:
        try:
            return Path(cache.mkdir("deskcheck"))
        except OSError:
            pass
    temporary = Path(tempfile.mkdtemp(prefix="deskcheck-"))
    config.add_cleanup(lambda: _remove_empty(temporary))
    return temporary


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):  # it has pages
        folder.rmdir()


class FailedTestPages:
    """The hooks of one process."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.option
        self.folder = Path(option.deskcheck_folder).absolute()
        self.limits = TraceLimits(events=option.deskcheck_events, repetitions=option.deskcheck_repetitions)
        project = Project(str(config.rootpath), option.deskcheck_package, config.getini("python_files"))
        self.watch = Watch(project, self.limits, option.deskcheck_seconds)
        self.failures: list[tuple[str, str, dict[str, Any]]] = []
        """Id of each failed test, the phase in which it failed, and facts for the summary."""
        self.written: Counter[str] = Counter()

    # -- while tests run -----------------------------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        self.watch.begin()
        self.watch.on()
        yield
        self.watch.off()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        self.watch.on()
        yield
        self.watch.off()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Iterator[None]:
        self.watch.on()
        yield
        self.watch.off()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
        outcome: Any = yield
        if outcome.excinfo is None and outcome.get_result().failed:
            report = outcome.get_result()
            error = None if call.excinfo is None else call.excinfo.value
            report.deskcheck = self._page(item.nodeid, report.when, error)

    def _page(self, test: str, when: str, error: BaseException | None) -> dict[str, Any]:
        """Write the page of the last call. Returns facts for the summary."""
        call = self.watch.last
        if call is None:
            return {"why_not": self.watch.why_not or "the test did not call code of the project"}
        try:
            recording = recorded(call, test, self.limits, error)
            self.folder.mkdir(parents=True, exist_ok=True)
            page = self.folder / self._file_name(test, when)
            write_trace_page(recording, page)
            _save(recording, page.with_suffix(""))
        except Exception as error:  # an error of ours must not become the test's
            return {"why_not": f"{type(error).__name__}: {error}"}
        event = opening_event(recording, recording.trace)
        return {
            "said": said(recording),
            "page": str(page),
            "event": event,
            "folder": str(page.with_suffix("")),
        }

    # -- in the process that writes the summary --------------------------------------------------------

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        facts = getattr(report, "deskcheck", None)
        if facts is not None:
            self.failures.append((report.nodeid, report.when or "", facts))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.failures:
            return
        terminalreporter.write_sep("=", "deskcheck: last calls of failed tests")
        for test, when, facts in self.failures:
            terminalreporter.write_line(test if when == "call" else f"{test} ({when})")
            if "page" in facts:
                terminalreporter.write_line(f"    {facts['said']}")
                terminalreporter.write_line(f"    {Path(facts['page']).as_uri()}#event={facts['event']}")
                terminalreporter.write_line(f"    deskcheck why {shlex.quote(facts['folder'])} NAME")
            else:
                terminalreporter.write_line(f"    no page: {visible(facts['why_not'])}")

    def _file_name(self, test: str, when: str) -> str:
        """File name for the page of a test, the same in each run. A subtest's name has its number."""
        full = test if when == "call" else f"{test}-{when}"
        self.written[full] += 1
        if self.written[full] > 1:
            full += f"-{self.written[full]}"
        short = re.sub(r"[^\w.-]+", "-", full, flags=re.ASCII)[-_NAME_CHARS:].strip("-")
        return f"{short}-{hashlib.sha256(full.encode('utf-8', 'replace')).hexdigest()[:8]}.html"


def _save(recording: Recording, folder: Path) -> None:
    """Store the recording alone in its folder, for `deskcheck why`, in place of that of an earlier run."""
    if any(folder.glob("recordings-*.parquet")):
        shutil.rmtree(folder)
    recording.save(folder)


# -- from a call to a recording ------------------------------------------------------------------------


def recorded(call: WatchedCall, test: str, limits: TraceLimits, error: BaseException | None) -> Recording:
    """The recording of a call that a test made. error: the exception with which the test failed."""
    traces = traces_of(call.blocks, call.tracer.cut)
    label = call.scope[call.code.co_filename]
    sources = _sources(call, traces)
    outcome, detail, result, builtin = _how_it_ended(traces[0], call, error)
    first = traces[0][0].locals if len(traces[0]) else {}
    arguments = ", ".join(f"{name}={render(value, max_chars=_SAID_CHARS)}" for name, value in first.items())
    environment = Environment.here(
        tracer=call.tracer.name, hash_seed=None, packages={}, limits=limits.leaving_out
    )
    return Recording(
        program=Program(
            id=test,
            code=sources.pop(label, ""),
            mode=Mode.CALL,
            filename=label,
            entry=call.code.co_qualname,
            arguments=f"({arguments})",
            source=call.code.co_filename,
            extra={"test": test, "arguments": "in part", "failure": _failure(error)},
        ),
        run_result=RunResult(
            outcome=outcome,
            detail=detail,
            exception=re.split("[(:]", detail)[0] if outcome is Outcome.RAISED else None,
            result=result,
            result_builtin=builtin,
            stdout="".join(call.written),
            cut=call.tracer.cut,
            sources=sources,
        ),
        environment=replace(environment, trace_limits=asdict(limits)),
        traces=traces,
    )


def _failure(error: BaseException | None) -> str:
    return "it failed" if error is None else exception_text(error)


def _sources(call: WatchedCall, traces: tuple[Trace, ...]) -> dict[str, str]:
    """Name in events -> text, for the files that events name and the file of the call."""
    files = {label: file for file, label in call.scope.items()}
    named = {row.file for trace in traces for row in trace.rows} | {call.scope[call.code.co_filename]}
    return {label: Path(files[label]).read_text("utf-8", "replace") for label in sorted(named)}


def _how_it_ended(
    trace: Trace, call: WatchedCall, error: BaseException | None
) -> tuple[Outcome, str, str | None, bool]:
    """Outcome, detail, result and whether that is a builtin's: from the trace, or from the test's exception
    if the trace was cut."""
    last = trace[-1] if len(trace) else None
    if last is not None and last.frame == 0 and last.kind is Kind.RETURN and last.value is not None:
        return Outcome.RETURNED, "", render(last.value), last.value.builtin
    if last is not None and last.frame == 0 and last.kind is Kind.UNWIND:
        raised = next((row for row in reversed(trace.rows) if row.kind == Kind.RAISE), None)
        value = None if raised is None else trace[raised.index].value
        return Outcome.RAISED, "" if value is None else render(value), None, False
    if error is not None and _went_through(error, call):
        return Outcome.RAISED, exception_text(error), None, False
    if call.tracer.cut is not None:
        return Outcome.RETURNED, "its result is not recorded", None, False
    return Outcome.KILLED, "it had not ended at the end of the test", None, False


def _went_through(error: BaseException, call: WatchedCall) -> bool:
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code is not call.code:
        traceback = traceback.tb_next
    return traceback is not None


def said(recording: Recording) -> str:
    """The call and how it ended, in one line."""
    program, run_result = recording.program, recording.run_result
    ending = run_result.detail if run_result.result is None else run_result.result
    how = ending if run_result.outcome is Outcome.KILLED else f"{run_result.outcome} {ending}"
    parts = [f"{program.entry}{program.arguments}", how]
    short = [visible(part if len(part) <= _SAID_CHARS else part[:_SAID_CHARS] + "...") for part in parts]
    return f"{short[0]} {short[1]}".rstrip() + f", {recording.events:,} events"
