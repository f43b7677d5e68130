"""The command `run`: runs a program like Python, and records it."""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from deskcheck.cli.common.commands import SEPARATOR
from deskcheck.cli.common.options import Panel, with_options
from deskcheck.cli.common.output import refuse_unwritable, say
from deskcheck.errors import DeskcheckError
from deskcheck.recorder.settings import RunSettings
from deskcheck.settings import Setting
from deskcheck.terminal import has_browser, kept_page, open_in_browser
from deskcheck.tracer import tracer_class


@dataclass(frozen=True, slots=True, kw_only=True)
class _Showing:
    """How the program is named, and how its run is shown."""

    module: Annotated[bool, Setting("FILE.py is the name of a module, as for python -m.", short="-m")] = False
    out: Annotated[Path | None, Setting("Add the recording to this folder.")] = None
    page: Annotated[Path | None, Setting("Write the trace page to this file.", metavar="FILE.html")] = None
    open_: Annotated[
        bool | None,
        Setting("Open the page in a browser, if there is one.", flag="--open", off="--no-open"),
    ] = None
    quiet: Annotated[bool, Setting("Print nothing but the program's output.", short="-q")] = False


@with_options
def run(
    target: Annotated[
        str, typer.Argument(metavar="FILE.py", help="The program; - reads it from standard input.")
    ],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGUMENT]...", help="Arguments of the program.")
    ] = None,
    *,
    showing: Annotated[_Showing, Panel(None)],
    settings: Annotated[RunSettings, Panel("Recording")],
) -> None:
    """Run a program as `python FILE.py ARGUMENTS` does, and show its run step by step.

    The program runs without a sandbox, with your files, streams and network: use this for your own code.
    Options of deskcheck go before FILE.py; `--` may separate it from its arguments. deskcheck adds one line
    on standard error, and in a terminal without a browser a table of the run.

    Exit status: that of the program; 128 plus the signal's number if a signal ended it; 2 if it cannot be
    started."""
    from deskcheck.recorder.run import run as run_program
    from deskcheck.recording.reader import Recordings

    page, out = showing.page, showing.out
    if page is not None:
        refuse_unwritable(page)
    if not showing.quiet and tracer_class().name == "reference":
        from deskcheck.recorder.programs import slow

        say(f"note: {slow(None)}")
    words = arguments or []
    if words[:1] == [SEPARATOR]:  # as for `record`
        del words[0]
    with tempfile.TemporaryDirectory(prefix="deskcheck-") as scratch:
        folder = scratch if out is None else out
        recording_id, status = run_program(
            target,
            tuple(words),
            out=folder,
            module=showing.module,
            settings=settings,
            note=lambda text: None if showing.quiet else say(f"note: {text}"),
        )
        try:
            _show(Recordings(folder)[recording_id], showing)
        except DeskcheckError as error:  # the exit status is the program's
            say(str(error))
    if status:
        raise typer.Exit(status if status > 0 else 128 - status)


def _show(recording: object, showing: _Showing) -> None:
    """Open the page in a browser, or print its path; in a terminal without a browser print the table."""
    from deskcheck.recording.outcome import Outcome
    from deskcheck.recording.recording import Recording
    from deskcheck.view.showing import show_table
    from deskcheck.view.trace_page import write_trace_page

    assert isinstance(recording, Recording)
    out, page, quiet = showing.out, showing.page, showing.quiet
    if recording.outcome is Outcome.HARNESS_ERROR and not recording.events:
        say(f"nothing was recorded: {recording.run_result.detail}")
        return
    opened = has_browser() if showing.open_ is None else showing.open_
    sentences = [repr(recording)[1:-1]]
    as_table = page is None and not opened and out is None and not quiet and sys.stdout.isatty()
    if as_table:
        show_table(recording)
        sentences.append("for the page, put --page FILE.html before the program")
    if out is not None:
        sentences.append(f"kept in {out}: deskcheck view {out} {recording.id}")
    if page is not None or opened or (out is None and not quiet and not as_table):
        file = page or kept_page()
        write_trace_page(recording, file)
        sentences.append(f"page: {file}")
        if opened:
            open_in_browser(file.resolve().as_uri())
    if not quiet:
        sys.stdout.flush()
        say("; ".join(sentences))
