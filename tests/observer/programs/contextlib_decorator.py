import contextlib, traceback


class Timer(contextlib.ContextDecorator):
    def __enter__(self):
        print("start")
        return self

    def __exit__(self, *e):
        print("end", e[0])
        return False


@Timer()
def f(x):
    return 1 / x


print(f(1))
try:
    f(0)
except ZeroDivisionError as e:
    print([s.name for s in traceback.extract_tb(e.__traceback__)])
