"""The methods in which models answer, and the true runs that some of them predict."""
