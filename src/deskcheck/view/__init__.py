"""Looks at recordings, and at reports."""

from deskcheck.view.notebooks import notebooks_table
from deskcheck.view.notebooks_page import notebooks_page
from deskcheck.view.table import trace_table
from deskcheck.view.trace_page import TraceServer, trace_page, write_trace_page

__all__ = [
    "TraceServer",
    "notebooks_page",
    "notebooks_table",
    "trace_page",
    "trace_table",
    "write_trace_page",
]
