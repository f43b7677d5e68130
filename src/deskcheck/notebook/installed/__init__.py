"""Kernels that are installed for Jupyter, in any language. They run cells unconfined, as in Jupyter."""
