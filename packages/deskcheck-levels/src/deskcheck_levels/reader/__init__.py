"""The level `reader`: a model that reads lines of programs and orders their operations."""
