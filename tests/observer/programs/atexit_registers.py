import atexit


def a():
    print("a")
    atexit.register(b)


def b():
    print("b")


atexit.register(a)


class D:
    def __del__(self):
        print("del at the end")


keep = D()
