import sys, atexit

atexit.register(print, "exit function")


def f():
    try:
        sys.exit(3)
    finally:
        print("finally")


f()
