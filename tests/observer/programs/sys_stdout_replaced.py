import sys, io, contextlib


class Upper(io.StringIO):
    def write(self, s):
        return super().write(s.upper())


old, sys.stdout = sys.stdout, Upper()
print("shout")
sys.stdout, got = old, sys.stdout.getvalue()
print(repr(got))
with contextlib.redirect_stdout(io.StringIO()) as f:
    print("caught")
print(repr(f.getvalue()))
sys.stdout.reconfigure(line_buffering=True)
print(sys.stdout.line_buffering)
