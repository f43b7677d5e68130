"""From a sample and a completion to a score: by value, by calling, by running."""
