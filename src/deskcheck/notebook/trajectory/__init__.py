"""Histories of notebooks as data: read from notebooks, logs and git, stored in files, without secrets."""
