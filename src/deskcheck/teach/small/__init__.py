"""A small model: trained on lessons from nothing, run step by step, exported to run without torch."""
