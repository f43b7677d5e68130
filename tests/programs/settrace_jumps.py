"""A trace function of the program's own that raises, that sets f_lineno to skip lines, and that is removed half way."""

import sys


def work():
    a = []
    a.append("first")
    a.append("skipped")
    a.append("last")
    return a


def jumper(frame, event, arg):
    if frame.f_code is work.__code__:
        if event == "line" and frame.f_lineno == frame.f_code.co_firstlineno + 3:
            frame.f_lineno += 1
        return jumper


def raiser(frame, event, arg):
    if frame.f_code is work.__code__ and event == "line":
        raise ValueError("from the trace function")
    return raiser


sys.settrace(jumper)
print(work())
sys.settrace(raiser)
try:
    work()
except ValueError as error:
    print(error, sys.gettrace())
print(work())


def removed(frame, event, arg):
    if frame.f_code is work.__code__:
        sys.settrace(None)
        print("removed at", event)


sys.settrace(removed)
print(work(), sys.gettrace())
