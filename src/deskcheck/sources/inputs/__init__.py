"""Inputs for functions that have none: finding functions, trying arguments, and choosing the inputs to
keep."""
