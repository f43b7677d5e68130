"""os.execv: the program is replaced by another in the same process; atexit does not run."""

import atexit
import os
import sys

atexit.register(print, "never")
a = 8
print("before", a, flush=True)
os.execv(sys.executable, [sys.executable, "-c", "print('another program'); raise SystemExit(6)"])
print("never")
