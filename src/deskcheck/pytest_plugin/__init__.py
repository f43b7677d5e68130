"""``pytest --deskcheck``: a page for each test that fails, of its last call of the project's own code."""
