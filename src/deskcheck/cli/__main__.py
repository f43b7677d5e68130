"""``python -m deskcheck.cli``."""

from deskcheck.cli.app import main

main()
