"""Shows a recording to a person: its trace page in a browser, or the trace table where they are."""

import sys
from pathlib import Path

from deskcheck.recording.recording import Recording
from deskcheck.terminal import console_out, has_browser, kept_page, open_in_browser
from deskcheck.view.inline import inline_page
from deskcheck.view.table import trace_table
from deskcheck.view.trace_page import LARGE_EVENTS, write_trace_page
from deskcheck.view.trace_server import TraceServer

MAX_EVENTS = 200
"""Rows of the table."""


def show(recording: Recording, *, browser: bool | None = None, max_events: int = MAX_EVENTS) -> None:
    """The page in a browser where a person sits at a terminal and has one, and below the cell in a notebook;
    elsewhere the table, on standard output. browser: True, False: the first or the last, whatever there is.

    Raises InputError where the page cannot be written.
    """
    if browser is None and in_notebook():
        from IPython.display import HTML, display

        display(HTML(inline_page(recording)))
    elif browser if browser is not None else has_browser():
        open_page(recording)
    else:
        show_table(recording, max_events)


def show_table(recording: Recording, max_events: int = MAX_EVENTS) -> None:
    """The trace table, on standard output."""
    console_out().print(trace_table(recording, max_events=max_events))


def open_page(recording: Recording) -> None:
    """The page in a browser, from a file; of a very long trace from a server, until Ctrl-C."""
    if recording.events > LARGE_EVENTS:
        serve_page(recording, 0, True)
        return
    write_page(recording, kept_page(), True)


def write_page(recording: Recording, out: Path, opened: bool) -> None:
    """The page as a file, whose name and size are printed; in a browser too, if `opened`."""
    size = write_trace_page(recording, out)
    print(f"{out}: {size / 1e6:.1f} MB")
    if recording.events > LARGE_EVENTS:
        _say(
            f"{recording.events:,} events are a lot for one file; --serve gives the page only what it shows."
        )
    if opened:
        open_in_browser(out.resolve().as_uri())


def serve_page(recording: Recording, port: int, opened: bool) -> None:
    """Serve the page on this machine until Ctrl-C; its address is printed."""
    if recording.events > 100_000:
        _say(f"reading {recording.events:,} events ...")
    with TraceServer(recording, port=port) as server:
        print(server.url, flush=True)
        _say("Ctrl-C ends it.")
        if opened:
            open_in_browser(server.url)
        try:
            server.serve()
        except KeyboardInterrupt:
            _say("no longer served")


def in_notebook() -> bool:
    """Whether this process is a kernel, whose front end shows HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _say(text: str) -> None:
    print(text, file=sys.stderr)
