"""Families of long executions: one task, written several times, for any size of input."""
