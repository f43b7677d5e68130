"""What runs in the process that a program runs in, and in the server that it is a fork of."""
