"""Tests of a project, run under observation, and the journal of what they tell."""
