"""Running notebooks: a confined kernel, given cells, watched, and its trajectory recorded."""
