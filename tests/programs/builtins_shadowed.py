"""A program that defines its own print, len, list, type, isinstance, repr and more, as globals."""

real_print = print
calls = []


def print(*args):
    calls.append("print")
    real_print("my print:", *args)


def len(x):
    calls.append("len")
    return -1


def isinstance(x, kind):
    calls.append("isinstance")
    return False


class list:
    pass


class type:
    def __new__(cls, *args):
        calls.append("type")
        return "my type"


repr = id = str = dict = sorted = None
int, object = "not a class", 28
__import__ = "unused"
__debug = sys = os = frame = event = self = True
a = [1, 2]
b = {"k": a}
print(len(a), type(b), isinstance(a, list), repr, int)
real_print(calls)
