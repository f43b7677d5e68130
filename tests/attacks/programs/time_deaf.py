"""Loops for ever, deaf to every signal that can be ignored or blocked, its timers cleared.

Seen: no verdict in time.
Stopped at: strict, standard.
Works: never where a signal kills.
Verdict: timed_out, wrong.
"""
import signal


def attack():
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    signal.setitimer(signal.ITIMER_REAL, 0)
    while True:
        pass
