"""The kinds of question about runs of programs, a file for each family."""
