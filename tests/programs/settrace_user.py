"""The program installs a trace function of its own, prints what it saw, and removes it."""

import sys

seen = []


def tracer(frame, event, arg):
    if frame.f_code is not work.__code__:
        return None
    seen.append((event, frame.f_lineno - frame.f_code.co_firstlineno, arg))
    return tracer


def work(n):
    a = n + 1
    b = 0
    while a:
        a -= 1
        b += a
    return b


print(sys.gettrace())
sys.settrace(tracer)
print(sys.gettrace() is tracer)
result = work(1)
sys.settrace(None)
print(result, sys.gettrace())
for event in seen:
    print(*event)
work(1)
print(len(seen))
