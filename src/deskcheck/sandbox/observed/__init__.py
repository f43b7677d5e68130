"""Observed runs of a project's tests, and the journal of their messages."""
