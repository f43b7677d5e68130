"""The notations: each a way to write a trace as text, and to read it back."""
