import inspect


def who():
    caller = inspect.currentframe().f_back
    return caller.f_code.co_name, caller.f_lineno, caller.f_back


print(who())


def log(message):
    info = inspect.stack()[1]
    print(f"{info.function}:{info.lineno} {message}")


log("hello")
