"""os._exit(9): no finally, no atexit, and what stands in the buffer is lost."""

import atexit
import os
import sys

atexit.register(print, "never: atexit")
sys.stdout.reconfigure(line_buffering=False, write_through=False)
print("flushed")
sys.stdout.flush()
try:
    sys.stdout.write("never: still in the buffer")
    os._exit(9)
finally:
    print("never: finally")
