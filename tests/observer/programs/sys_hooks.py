import sys


def hook(t, v, tb):
    import inspect

    print("hook", t.__name__, v, tb.tb_next is None, [f.function for f in inspect.stack()])


sys.excepthook = hook


def f():
    raise LookupError("no")


f()
