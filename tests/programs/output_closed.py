"""stdout closed by the program itself: what comes after fails, and the status tells nothing of it."""

import os
import sys

print("before", flush=True)
a = 7
os.close(1)
b = 9
try:
    os.write(1, b"after")
except OSError as error:
    print(error.strerror, a, b, file=sys.stderr)
sys.stdout = None
print("nowhere")
