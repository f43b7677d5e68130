import sys

events = []


def tr(f, e, a):
    events.append((f.f_code.co_name, e, f.f_lineno - f.f_code.co_firstlineno))
    return tr


def work(n):
    t = 0
    for i in range(n):
        t += i
    return t


sys.settrace(tr)
work(2)
sys.settrace(None)
print(events, sys.gettrace())
