"""sys.stdout replaced by the program: StringIO, redirect_stdout, an object of its own, closed, None."""

import contextlib
import io
import sys


class Upper:
    def __init__(self):
        self.writes = []

    def write(self, text):
        self.writes.append(text.upper())

    def __getattr__(self, name):
        self.writes.append(f"asked for {name}")
        raise AttributeError(name)


real = sys.stdout
sys.stdout = io.StringIO()
print("captured")
text = sys.stdout.getvalue()
sys.stdout = upper = Upper()
print("words", 2)
a = 26
sys.stdout = None
print("nowhere")
sys.stdout = real
print(repr(text), upper.writes, a)
with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
    print("one")
    print("two", file=sys.stderr)
    with contextlib.redirect_stdout(real):
        print("straight through")
print(out.getvalue().split())
sys.stdout = io.StringIO()
sys.stdout.close()
try:
    print("to a closed file")
except ValueError as error:
    sys.stdout = real
    print(error)
