"""A private benchmark of a project: its tests run, calls of its functions are recorded and asked about."""
