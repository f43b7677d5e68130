"""What a reader may be told of the arguments of a call, and of the code among them."""
