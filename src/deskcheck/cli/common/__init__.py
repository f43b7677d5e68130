"""What commands share: their options, defaults from a file, what they print."""
