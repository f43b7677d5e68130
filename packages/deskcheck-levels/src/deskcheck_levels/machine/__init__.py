"""A machine that runs the bytecode of this Python and leaves every operation on numbers to a model."""
