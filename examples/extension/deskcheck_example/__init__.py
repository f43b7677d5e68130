"""Examples of what a package can add to deskcheck."""
