"""How a model answers: the methods, and the run that it would have to predict."""
