"""Recordings as lessons: which are made, as text and as tokens, in shards on disk."""
