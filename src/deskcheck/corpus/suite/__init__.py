"""Calls that a project's own tests make."""
