"""The answers of models, as text: what was answered, and whether two say the same."""
