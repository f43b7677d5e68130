"""sys.gettrace and sys.getprofile tell the program only what the program itself has set."""

import sys
import threading

print(sys.gettrace(), sys.getprofile(), sys._getframe().f_trace)


def mine(frame, event, arg):
    return None


def check():
    return sys.gettrace() is mine, sys._getframe().f_trace


sys.settrace(mine)
a = sys.gettrace()
b = check()
sys.settrace(a)
c = sys.gettrace() is a
sys.settrace(None)
print(a is mine, b, c, sys.gettrace())
found = []
thread = threading.Thread(target=lambda: found.append(sys.gettrace()))
thread.start()
thread.join()
print(found, threading.gettrace(), threading.getprofile())
