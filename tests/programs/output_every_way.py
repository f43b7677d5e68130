"""Output by print, sys.stdout.write, the buffer, os.write and stderr, in that order."""

import os
import sys

print("print", 1, sep="-", end="!\n", flush=True)
n = sys.stdout.write("write\n")
sys.stdout.flush()
os.write(1, b"os.write\n")
sys.stdout.buffer.write(b"buffer\n")
sys.stdout.flush()
print("to stderr", file=sys.stderr)
sys.stderr.write("stderr.write\n")
os.write(2, b"os.write to 2\n")
sys.stdout.writelines(["lines ", "written\n"])
print(n, sys.stdout is sys.__stdout__, sys.stdout.encoding.lower(), sys.stdout.fileno(), end="")
print()
print(*[], **{"end": "no newline at the end"})
