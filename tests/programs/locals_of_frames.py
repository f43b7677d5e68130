"""sys._getframe, inspect.currentframe and f_locals: copies kept by the program, the callers it can see."""

import inspect
import sys


def inner(x):
    frame = sys._getframe()
    kept = dict(frame.f_locals)
    y = 10
    caller = frame.f_back
    return kept == {"x": x, "frame": frame}, caller.f_code.co_name, caller.f_lineno, caller.f_locals["a"], frame.f_lineno


def outer():
    a = [17]
    result = inner(18)
    a.append(19)
    b = dict(inspect.currentframe().f_locals)
    c = 20
    return result, sorted(b), b["a"]


print(outer())
frame = sys._getframe()
print(frame.f_code.co_name, frame.f_globals is globals(), frame.f_locals is globals() or frame.f_locals == globals())
print(frame.f_trace, frame.f_trace_lines, frame.f_trace_opcodes, frame.f_lasti > 0)


def names():
    found, frame = [], sys._getframe()
    while frame and frame.f_code.co_filename == __file__:
        found.append(frame.f_code.co_name)
        frame = frame.f_back
    return found


print((lambda: names())())
