"""An exception in a thread: threading.excepthook gets it, SystemExit too, and the program goes on."""

import sys
import threading


def fail():
    try:
        {}["absent"]
    finally:
        print("finally")


def hook(args):
    print("hook", args.exc_type.__name__, args.exc_value, args.thread.name)


threading.excepthook = hook
for target, name in ((fail, "failing"), (sys.exit, "exiting"), (lambda: print("fine"), "fine")):
    t = threading.Thread(target=target, name=name)
    t.start()
    t.join()
threading.excepthook = threading.__excepthook__
print("done", threading.active_count())
