import atexit, inspect, sys


def show(n):
    print("exit", n, [f.function for f in inspect.stack()])


for n in range(3):
    atexit.register(show, n)


@atexit.register
def fails():
    raise ValueError("in exit function")


atexit.unregister(print)
print("main")
