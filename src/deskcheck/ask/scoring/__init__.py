"""Scores of completions: by value, by calling, by running."""
