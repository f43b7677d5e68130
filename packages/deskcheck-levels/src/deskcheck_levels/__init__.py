"""Small models that run programs, with much, little or no help of a machine: a research experiment."""
