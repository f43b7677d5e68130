"""A program that ends itself with SIGTERM: its status tells the signal, nothing else runs."""

import atexit
import signal

atexit.register(print, "never")
print("before", flush=True)
signal.raise_signal(signal.SIGTERM)
print("never")
