"""Readers: files, doctests, functions with inputs or without, published sets, wrong versions."""
