"""The level `processor`: the network that computes what a machine asks, its lessons, its runs."""
