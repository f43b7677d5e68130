"""Programs as text: reading, parsing and editing it, and the options of sources."""
