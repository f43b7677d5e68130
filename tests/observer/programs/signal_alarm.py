import signal


class Late(Exception):
    pass


def ring(*a):
    raise Late


signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    n = 0
    while True:
        n += 1
except Late:
    print("rang", n > 0)
