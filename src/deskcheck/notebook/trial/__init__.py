"""Cells tried out in a state that a notebook went through, each in a fork of it."""
