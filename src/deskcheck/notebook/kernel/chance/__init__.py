"""What of a cell is chance: seen in the kernel, from draws, sources and generators."""
