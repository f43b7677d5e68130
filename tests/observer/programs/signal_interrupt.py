import signal, os

try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("caught")


def f():
    raise KeyboardInterrupt


f()
