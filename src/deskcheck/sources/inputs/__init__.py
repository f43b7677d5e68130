"""Inputs for functions that have none: which functions there are, what is tried, what of it is kept."""
