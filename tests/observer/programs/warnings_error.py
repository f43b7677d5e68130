import warnings

warnings.simplefilter("error")


def f():
    warnings.warn("now an error", ResourceWarning)


try:
    f()
except ResourceWarning as e:
    print(type(e).__name__, e)
warnings.resetwarnings()
warnings.showwarning = lambda m, c, f, l, file=None, line=None: print("shown", m, c.__name__, l)
warnings.warn("x")
f()
