"""Signals: handlers run by raise_signal at once, an alarm that raises, an ignored signal, the old handler put back."""

import signal
import time

log = []


def handler(number, frame):
    log.append((signal.Signals(number).name, frame.f_code.co_name, frame.f_lineno))


def work():
    a = 14
    signal.raise_signal(signal.SIGUSR1)
    return a


class TooLate(Exception):
    pass


def alarm(number, frame):
    raise TooLate


old = signal.signal(signal.SIGUSR1, handler)
print(work(), log, old == signal.SIG_DFL)
signal.signal(signal.SIGALRM, alarm)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    time.sleep(30)
except TooLate:
    print("alarm")
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
signal.raise_signal(signal.SIGUSR1)
print(len(log), signal.signal(signal.SIGUSR1, old) == signal.SIG_IGN)
signal.signal(signal.SIGINT, handler)
signal.raise_signal(signal.SIGINT)
print(log[-1][0], signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
