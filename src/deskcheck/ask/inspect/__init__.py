"""The seam to Inspect AI: tasks, solvers, models and a sandbox, as it has them."""
