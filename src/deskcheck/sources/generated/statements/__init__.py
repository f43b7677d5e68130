"""The rules for the statements, functions and expressions of generated programs."""
