"""A program that ends itself with SIGTERM: its status tells the signal, nothing else runs."""

import atexit
import os
import signal

atexit.register(print, "never")
print("before", flush=True)
os.kill(os.getpid(), signal.SIGTERM)
print("never")
