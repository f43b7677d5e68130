"""Sets the machine's clock, to what it shows.

Seen: an answer: it could.
Stopped at: strict, standard.
Works: as root.
Verdict: raised.
"""
import time


def attack():
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME))
    return True
