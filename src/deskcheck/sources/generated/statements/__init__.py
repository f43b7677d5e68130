"""What generated programs are made of: statements, functions and expressions, in tables."""
