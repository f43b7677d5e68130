import inspect


def inner():
    return [f.function for f in inspect.stack()], len(inspect.stack())


def outer():
    return inner()


print(outer(), inspect.stack()[-1].function, inspect.currentframe().f_back)
print(inspect.stack()[-1].lineno, inspect.getframeinfo(inspect.currentframe()).code_context)
