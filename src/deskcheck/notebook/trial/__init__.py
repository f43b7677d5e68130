"""Tries cells out in a state of a notebook, each in a fork of that state."""
