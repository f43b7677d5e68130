"""``python -m deskcheck``."""

from deskcheck.cli.app import main

main()
