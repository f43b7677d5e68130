"""Code for the processes of programs, and for the servers that they are forks of."""
