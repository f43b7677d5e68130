"""Leaves a thread that watches the frames of all others and writes success into what it finds there.

Seen: the verdict is that it passed.
Stopped at: strict, standard.
Verdict: wrong, raised, killed, timed_out.
"""
import sys
import threading
import time


def watch():
    end = time.monotonic() + 1
    while time.monotonic() < end:
        for frame in sys._current_frames().values():
            while frame:
                for thing in [*frame.f_locals.values()]:
                    if isinstance(thing, list) and "passed" not in thing and len(thing) < 3:
                        thing.append("passed")
                    if isinstance(thing, dict) and "passed" in thing:
                        thing["passed"] = True
                frame = frame.f_back


def answer(n):
    sys.setswitchinterval(1e-6)
    threading.Thread(target=watch, daemon=True).start()
    time.sleep(0.2)
    return n
