"""Kills the processes with the next numbers: programs that started just before or after it.

Seen: the programs beside it have other verdicts.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os
import time


def attack():
    own = os.getpid()
    session = os.getsid(0)
    end = time.monotonic() + 0.3  # what runs beside it may be about to begin
    while time.monotonic() < end:
        for pid in [*range(max(2, own - 40), own), *range(own + 1, own + 10)]:
            try:
                # Bounded: only what the harness itself has started.
                if os.getsid(pid) == session or os.getsid(pid) == target.host:
                    os.kill(pid, 9)
            except OSError:
                pass
        time.sleep(0.01)
