"""Looks at recordings, and at reports. Without pyarrow, which those who read recordings from files bring."""

from deskcheck.view.table import trace_table
from deskcheck.view.trace_page import TraceServer, trace_page, write_trace_page

__all__ = ["TraceServer", "trace_page", "trace_table", "write_trace_page"]
