"""How large the values of generated programs get, and how long their calls run.

A bound is kept by what writes the text, not here.
"""

LIMIT = 20_000
"""Numbers, either way from zero."""
PRODUCT = 5000
"""What is multiplied comes to no more."""
LIST = 8
"""Items of a list."""
TEXT = 20
"""Characters of a text."""
KEYS = 8
"""Entries of a dictionary."""
TRIPS = 36
"""Rounds of a loop, times those of the loops that it stands in."""
COST = 160
"""About how many lines a call runs at most."""
GROWTH = 4000
"""What a loop may add to a number in all its rounds."""
