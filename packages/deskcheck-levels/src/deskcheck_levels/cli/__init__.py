"""Entry points for the command line of deskcheck."""
