"""deskcheck inside of Jupyter: the magic, the server's extension, and what they record."""
