"""What a kernel's variables hold: seen from inside, as data, and as bounded text."""
