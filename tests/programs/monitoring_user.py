"""A coverage tool of the program's own: sys.monitoring where there is one, sys.settrace before 3.12."""

import sys

lines = set()


def work(n):
    for i in range(n):
        if i == 1:
            continue
        last = i
    return last


def by_trace(frame, event, arg):
    if frame.f_code is work.__code__:
        if event == "line":
            lines.add(frame.f_lineno)
        return by_trace


if hasattr(sys, "monitoring"):
    m = sys.monitoring
    m.use_tool_id(m.COVERAGE_ID, "my coverage")
    m.register_callback(m.COVERAGE_ID, m.events.LINE, lambda code, line: lines.add(line) or m.DISABLE)
    m.set_local_events(m.COVERAGE_ID, work.__code__, m.events.LINE)
    work(3)
    m.set_local_events(m.COVERAGE_ID, work.__code__, 0)
    m.restart_events()
    m.free_tool_id(m.COVERAGE_ID)
else:
    sys.settrace(by_trace)
    work(3)
    sys.settrace(None)
print(sorted(lines))
