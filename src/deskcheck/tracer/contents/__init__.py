"""What objects of types that are written in C consist of, read without running code of the program."""
