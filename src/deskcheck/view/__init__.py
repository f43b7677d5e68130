"""Views of recordings and reports. Does not import pyarrow, which only readers of recordings need."""

from typing import TYPE_CHECKING

from deskcheck.lazy import lazily
from deskcheck.view.table import trace_table
from deskcheck.view.trace_page import trace_page, write_trace_page

__all__ = ["TraceServer", "trace_page", "trace_table", "write_trace_page"]

if TYPE_CHECKING:
    from deskcheck.view.trace_server import TraceServer

__getattr__, __dir__ = lazily(__name__, {"trace_server": ("TraceServer",)})  # with an HTTP server
