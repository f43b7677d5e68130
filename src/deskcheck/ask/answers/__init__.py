"""The answers of models as text: reading them, and comparing them."""
