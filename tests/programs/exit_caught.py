"""SystemExit raised in a function and caught: its code is kept, the program goes on."""

import sys


def leave(*code):
    sys.exit(*code)


for code in ((), (0,), (7,), ("text",), ((1, 2),), (True,)):
    try:
        leave(*code)
    except SystemExit as error:
        print(repr(error.code), error.args)
try:
    exit(4)
except SystemExit as error:
    print("builtin exit", error.code)
raise SystemExit(256 + 5)
