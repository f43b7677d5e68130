"""The trace page inside another page, as a notebook shows it below a cell: small, and shut off from it."""

import html
from dataclasses import replace

from deskcheck.recording.recording import Recording
from deskcheck.recording.trace import Trace
from deskcheck.view.page import visible
from deskcheck.view.trace_page import trace_page

INLINE_EVENTS = 2000
"""Of a longer trace the beginning is shown."""
INLINE_CHARS = 1_000_000
"""Of the page in all. Its script takes a fifth. Where values are large, fewer events are shown."""
_STYLE = "width: 100%; height: 40rem; border: 1px solid #8886; border-radius: 6px"
_UNTRUSTED = "The trace page is not shown: the notebook is not trusted. Run the cell again, or trust it."


def inline_page(recording: Recording) -> str:
    """HTML of a line that says how the run ended, and the trace page in a frame.

    The frame is sandboxed: its script reaches nothing of the page around it. Where a notebook is not trusted
    front ends take the frame out, and what stands in it is read instead. Of a trace with more than
    `INLINE_EVENTS`, or with too large values, the page has the beginning, and says so.
    """
    said = f"<p><code>{html.escape(visible(repr(recording)))}</code></p>"
    page, shown = _bounded(recording)
    if page is None:
        return (
            f"<div>{said}<p>It is too large to be shown in a notebook: recording.view() shows it.</p></div>"
        )
    if shown < recording.events:
        said += f"<p>The first {shown:,} events are shown here: recording.view() shows all.</p>"
    # Only what ends the attribute is escaped: it holds half a million characters.
    source = page.replace("&", "&amp;").replace('"', "&quot;")
    frame = f'<iframe title="trace page" sandbox="allow-scripts" style="{_STYLE}" srcdoc="{source}">'
    return f"<div>{said}{frame}{_UNTRUSTED}</iframe></div>"


def _bounded(recording: Recording) -> tuple[str | None, int]:
    """The page of as many events as fit, and how many those are. None: not one does."""
    most = INLINE_EVENTS
    while most:
        begun = _beginning(recording, most)
        page = "".join(trace_page(begun, packed=True))
        if len(page) <= INLINE_CHARS:
            return page, begun.events
        most //= 4
    return None, 0


def _beginning(recording: Recording, most: int) -> Recording:
    """The recording with at most so many events of each thread, and a word where others are missing."""
    if all(len(trace) <= most for trace in recording.traces):
        return recording
    traces = tuple(
        Trace(
            list(trace.rows[:most]),
            thread=trace.thread,
            cut=f"{len(trace) - most:,} more are recorded" if len(trace) > most else trace.cut,
        )
        for trace in recording.traces
    )
    return replace(recording, traces=traces)
