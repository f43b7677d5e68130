try:
    input("name? ")
except EOFError as e:
    print("EOF", e)
import sys

print(repr(sys.stdin.read()), sys.stdin.closed)
