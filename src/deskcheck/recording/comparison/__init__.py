"""Whether two recordings of one program are the same: of two runs, and of two tracers."""
