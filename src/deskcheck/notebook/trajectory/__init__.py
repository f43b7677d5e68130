"""How a notebook came about, as data: read from notebooks, logs and git, kept in files, without secrets."""
