"""input() and sys.stdin: a replaced stdin is read line by line, EOFError at its end."""

import io
import sys

sys.stdin = io.StringIO("3\nfour words on this\n\nlast without newline")
a = int(input("number? "))
b = input().split()
c = input()
d = [line for line in sys.stdin]
print(a, b, repr(c), d)
try:
    input()
except EOFError as error:
    print("EOF", sys.stdin.tell())
sys.stdin = iter(["not a file"])
try:
    input()
except (RuntimeError, AttributeError) as error:
    print(type(error).__name__)
sys.stdin = sys.__stdin__
