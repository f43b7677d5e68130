"""Shows a recording: its trace page in a browser or notebook, or the trace table in a terminal."""

import sys
from pathlib import Path

from deskcheck.recording.recording import Recording
from deskcheck.terminal import console_out, has_browser, kept_page, open_in_browser
from deskcheck.view.inline import inline_page
from deskcheck.view.table import trace_table
from deskcheck.view.trace_page import LARGE_EVENTS, write_trace_page
from deskcheck.view.trace_server import TraceServer

MAX_EVENTS = 200
"""Default number of rows in the table."""


def show(recording: Recording, *, browser: bool | None = None, max_events: int = MAX_EVENTS) -> None:
    """Show the page in a browser, or below the cell in a notebook; else print the table.

    browser: whether to open the page in a browser. By default, if this is a terminal with a browser.

    Raises InputError if the page cannot be written.
    """
    if browser is None and in_notebook():
        from IPython.display import HTML, display

        display(HTML(inline_page(recording)))
    elif browser if browser is not None else has_browser():
        open_page(recording)
    else:
        show_table(recording, max_events)


def show_table(recording: Recording, max_events: int = MAX_EVENTS) -> None:
    """Print the trace table."""
    console_out().print(trace_table(recording, max_events=max_events))


def open_page(recording: Recording) -> None:
    """Open the page in a browser, from a file; for a very long trace from a server, until Ctrl-C."""
    if recording.events > LARGE_EVENTS:
        serve_page(recording, 0, True)
        return
    write_page(recording, kept_page(), True)


def write_page(recording: Recording, out: Path, opened: bool) -> None:
    """Write the page to a file, print its name and size, and open it in a browser if `opened`."""
    size = write_trace_page(recording, out)
    print(f"{out}: {size / 1e6:.1f} MB")
    if recording.events > LARGE_EVENTS:
        _say(
            f"{recording.events:,} events make a large file. With --serve the page loads only what it shows."
        )
    if opened:
        open_in_browser(out.resolve().as_uri())


def serve_page(recording: Recording, port: int, opened: bool) -> None:
    """Serve the page on this machine until Ctrl-C, and print its address."""
    if recording.events > 100_000:
        _say(f"reading {recording.events:,} events ...")
    with TraceServer(recording, port=port) as server:
        print(server.url, flush=True)
        _say("Press Ctrl-C to end the server.")
        if opened:
            open_in_browser(server.url)
        try:
            server.serve()
        except KeyboardInterrupt:
            _say("no longer served")


def in_notebook() -> bool:
    """Whether this process is a kernel with a front end that shows HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _say(text: str) -> None:
    print(text, file=sys.stderr)
