import inspect


def g():
    x = 1
    yield x
    yield inspect.currentframe().f_back.f_code.co_name


it = g()
print(inspect.getgeneratorstate(it), inspect.getgeneratorlocals(it))
next(it)
print(inspect.getgeneratorstate(it), inspect.getgeneratorlocals(it), next(it), list(it))
print(inspect.getgeneratorstate(it), it.gi_frame)
