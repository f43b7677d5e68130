"""Whether notebooks reproduce: each cell's stored output against that of a fresh run."""
