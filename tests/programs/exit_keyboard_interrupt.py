"""An uncaught KeyboardInterrupt: atexit runs, then the process dies of SIGINT."""

import atexit

atexit.register(print, "atexit", flush=True)
try:
    print("before")
    raise KeyboardInterrupt
finally:
    print("finally")
