import sys, io

print(
    type(sys.stdout).__name__,
    sys.stdout.__class__ is io.TextIOWrapper,
    sys.stdout.encoding,
    sys.stdout.errors,
    sys.stdout.mode,
    sys.stdout.name,
)
print(sys.stdout.write, file=io.StringIO())
sys.stdout.writelines(["a", "b\n"])
print("direct", flush=True)
sys.stdout.buffer.write(b"bytes\n")
sys.stdout.flush()
try:
    sys.stdout.write(3)
except TypeError as e:
    print(e)
try:
    sys.stdout.write("\ud800")
except UnicodeEncodeError as e:
    import traceback

    print([f.name for f in traceback.extract_tb(e.__traceback__)])
