"""An uncaught exception with a cause, a note and a frame whose code has no source file."""

namespace = {}
exec("def divide(a, b):\n    return a / b", namespace)


def work():
    try:
        namespace["divide"](1, 0)
    except ZeroDivisionError as error:
        problem = ValueError("from work")
        problem.add_note("with a note")
        raise problem from error


print("before")
work()
