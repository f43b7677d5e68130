import threading, sys


def f():
    1 / 0


t = threading.Thread(target=f, name="bad")
t.start()
t.join()
threading.excepthook = lambda a: print("hook", a.exc_type.__name__, a.thread.name)
t = threading.Thread(target=f, name="worse")
t.start()
t.join()
