import sys, os

print("first")
sys.stderr.write("error text\n")
print("no newline", end="")
sys.stdout.flush()
os.write(1, b"raw\n")
print("last", file=sys.stdout)
