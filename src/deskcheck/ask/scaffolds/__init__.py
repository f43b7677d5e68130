"""Methods that ask a model several times and run what it wrote: within a budget, every attempt kept."""
