"""Looks at recordings."""

from deskcheck.view.table import trace_table

__all__ = ["trace_table"]
