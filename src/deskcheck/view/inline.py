"""The trace page inside another page, such as a notebook: small, and isolated from it."""

import html
from dataclasses import replace

from deskcheck.recording.recording import Recording
from deskcheck.recording.trace import Trace
from deskcheck.view.page import visible
from deskcheck.view.trace_page import trace_page

INLINE_EVENTS = 2000
"""Maximum number of events."""
INLINE_CHARS = 1_000_000
"""Size of the page; its script takes a fifth. If values are large, fewer events are shown."""
_STYLE = "width: 100%; height: 40rem; border: 1px solid #8886; border-radius: 6px"
_UNTRUSTED = "The trace page is not shown: the notebook is not trusted. Run the cell again, or trust it."


def inline_page(recording: Recording) -> str:
    """HTML with a line about the end of the run, and the trace page in a frame.

    The script of the sandboxed frame cannot reach the page around it. If a notebook is not trusted, front
    ends remove the frame and show its text instead. A trace with more than `INLINE_EVENTS` events, or with
    too large values, is cut, with a note on the page.
    """
    text = f"<p><code>{html.escape(visible(repr(recording)))}</code></p>"
    page, events = _bounded(recording)
    if page is None:
        return f"<div>{text}<p>It is too large for a notebook. Use recording.view() instead.</p></div>"
    if events < recording.events:
        text += f"<p>These are the first {events:,} events. recording.view() shows all.</p>"
    # Only characters that would end the attribute are escaped: it has half a million characters.
    source = page.replace("&", "&amp;").replace('"', "&quot;")
    frame = f'<iframe title="trace page" sandbox="allow-scripts" style="{_STYLE}" srcdoc="{source}">'
    return f"<div>{text}{frame}{_UNTRUSTED}</iframe></div>"


def _bounded(recording: Recording) -> tuple[str | None, int]:
    """The page with as many events as fit, or None if no event fits, and their number."""
    limit = INLINE_EVENTS
    while limit:
        begun = _beginning(recording, limit)
        page = "".join(trace_page(begun, packed=True))
        if len(page) <= INLINE_CHARS:
            return page, begun.events
        limit //= 4
    return None, 0


def _beginning(recording: Recording, limit: int) -> Recording:
    """The recording with up to `limit` events of each thread. A cut thread has a note."""
    if all(len(trace) <= limit for trace in recording.traces):
        return recording
    traces = tuple(
        Trace(
            list(trace.rows[:limit]),
            thread=trace.thread,
            cut=f"{len(trace) - limit:,} more are recorded" if len(trace) > limit else trace.cut,
        )
        for trace in recording.traces
    )
    return replace(recording, traces=traces)
