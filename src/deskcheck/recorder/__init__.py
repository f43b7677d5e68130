"""Recording many programs: into a folder, each again to see whether it repeats."""
