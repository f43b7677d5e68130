import threading, inspect, traceback, sys


def f():
    print([s.function for s in inspect.stack()])

    def depth(n=0):
        try:
            return depth(n + 1)
        except RecursionError:
            return n

    print(depth())
    traceback.print_stack(file=sys.stdout, limit=-2)


t = threading.Thread(target=f)
t.start()
t.join()
