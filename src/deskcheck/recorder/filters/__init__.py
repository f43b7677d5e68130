"""Filters of events and texts: they mask secrets, or keep only the last events."""
