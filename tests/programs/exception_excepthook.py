"""sys.excepthook replaced: the program reports its own last exception; the exit status stays 1."""

import sys


def hook(kind, error, traceback):
    lines = []
    while traceback:
        lines.append(traceback.tb_lineno)
        traceback = traceback.tb_next
    print("hook", kind.__name__, error, len(lines), lines[-2:])


def fail():
    raise LookupError("for the hook")


sys.excepthook = hook
print(sys.excepthook is sys.__excepthook__)
fail()
