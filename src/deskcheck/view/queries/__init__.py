"""Questions to a recording: why a value is what it is, where an expression holds, where two runs part."""
