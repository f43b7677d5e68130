"""Looks at recordings, and at reports."""

from deskcheck.view.notebooks import notebooks_table
from deskcheck.view.notebooks_page import notebooks_page
from deskcheck.view.table import trace_table

__all__ = ["notebooks_page", "notebooks_table", "trace_table"]
