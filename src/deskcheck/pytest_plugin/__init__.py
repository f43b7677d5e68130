"""``pytest --deskcheck``: a trace page for each failed test, of its last call of the project's code."""
