"""The seam to Inspect AI: its tasks, solvers, models and sandbox."""
