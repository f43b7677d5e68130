"""What is kept of the events and texts of a run: without secrets, or only the last ones."""
