"""The program leaves its own trace function on to the end; it counts, and an atexit handler prints."""

import atexit
import sys

counts = {}


def tracer(frame, event, arg, code=(), counts=counts):
    if frame.f_code.co_name == "work":
        counts[event] = counts.get(event, 0) + 1
    return tracer


def work(x):
    y = x * 2
    return y


@atexit.register
def at_the_end():
    print("still mine", sys.gettrace() is tracer, counts)
    work(0)
    print(counts)


sys.settrace(tracer)
print([work(i) for i in range(3)])
print(sys.gettrace() is tracer, counts)
