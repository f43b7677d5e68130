"""`python -m tests.attacks`: see `table`."""

from tests.attacks.table import main

main()
