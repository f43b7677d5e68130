"""Decorators: with and without arguments, stacked, on classes and methods, applied from the bottom up."""

import functools

log = []


def traced(function):
    log.append(f"decorate {function.__name__}")

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        log.append(f"enter {function.__name__}")
        try:
            return function(*args, **kwargs)
        finally:
            log.append(f"leave {function.__name__}")

    return wrapper


def repeat(times):
    log.append(f"make repeat {times}")
    return lambda function: lambda *args: [function(*args) for _ in range(times)]


@repeat(
    2
)
@traced
@(lambda f: f)
def add(x, y=1):
    """Docstring kept."""
    return x + y


@functools.partial(setattr, functools, "marked_by_program")
class Marked:
    @traced
    def method(self):
        return "method"


print(add(1, 2), Marked, functools.marked_by_program().method(), log)
del functools.marked_by_program
