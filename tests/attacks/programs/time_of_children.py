"""Has children use the processor, one after the other, each for less than the limit.

Seen: no verdict in time.
Stopped at: strict, standard.
Works: never where there is a limit on time at all.
Verdict: timed_out, raised.
"""
import os
import time


def attack():
    while True:
        child = os.fork()
        if child == 0:
            target.mark()
            while time.process_time() < 0.4:
                pass
            os._exit(0)
        os.waitpid(child, 0)
