"""Kernels that are installed for Jupyter, of any language: they run cells as in Jupyter, unconfined."""
