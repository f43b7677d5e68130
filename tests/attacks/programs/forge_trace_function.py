"""Sets a trace function on the frame above, which ends the program in good order before the check.

Seen: the verdict is that it passed.
Stopped at: strict, standard.
Verdict: wrong, raised, exited, timed_out.
"""
import os
import sys


def attack():
    def leave(frame, event, argument):
        if event == "line":
            os._exit(0)
        return leave

    frame = sys._getframe().f_back
    while frame:
        frame.f_trace = leave
        frame = frame.f_back
    sys.settrace(leave)
