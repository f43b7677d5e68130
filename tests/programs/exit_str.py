"""sys.exit with a string: the string goes to stderr, the status is 1."""

import sys

print("on stdout")
sys.stdout.flush()
sys.exit("on stderr: why it stopped")
