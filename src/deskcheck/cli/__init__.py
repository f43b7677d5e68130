"""The command line: `app` says what it does; each other file has the commands of one concern."""

from deskcheck.cli.app import app, main

__all__ = ["app", "main"]
