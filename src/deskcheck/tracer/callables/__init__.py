"""The code that the arguments of a call lead to, as text for a reader."""
