"""What the command line of deskcheck calls."""
