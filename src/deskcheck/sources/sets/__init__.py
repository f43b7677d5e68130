"""Readers of programs: files, doctests, functions with inputs, published sets, wrong versions."""
