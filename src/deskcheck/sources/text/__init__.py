"""Programs as text: reading it, changing it where its syntax tree says, and options of sources."""
