"""The trace page: one HTML file with a recording. `trace_server` serves recordings too large for one file.

The page itself is built from `web/` into `static/`. Here it is joined with the data of `trace_data` (`page`).
"""

import json
from collections.abc import Iterator
from pathlib import Path

from deskcheck.files import write_file
from deskcheck.recording.recording import Recording
from deskcheck.view.page import head, part, tail
from deskcheck.view.queries.causes import causes
from deskcheck.view.trace_data import TraceData, page_facts

LARGE_EVENTS = 200_000
"""Number of events from which on a page should be served instead of written to one file."""


def trace_page(recording: Recording, *, packed: bool = False) -> Iterator[str]:
    """The page of a recording, in pieces to be written in order as UTF-8.

    packed: whether the script is deflated."""
    traces = [TraceData(trace) for trace in recording.traces]
    yield head("trace", recording.id, packed=packed)
    yield part("facts", json.dumps(page_facts(recording, traces)).encode("ascii"))
    for trace in traces:
        thread = trace.trace.thread
        yield part(f"columns-{thread}", trace.columns())
        for number, block in enumerate(trace.blocks()):
            yield part(f"block-{thread}-{number}", block)
        if (graph := causes(recording, trace.trace)) is not None:
            yield part(f"why-{thread}", json.dumps(graph).encode("ascii"))
    yield tail(packed=packed)


def write_trace_page(recording: Recording, path: Path) -> int:
    """Write the page of a recording to a file. Returns its size in bytes.

    Raises:
        InputError: the file cannot be written.
    """
    return write_file(path, trace_page(recording))
