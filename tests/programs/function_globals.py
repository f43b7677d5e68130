"""Globals modified by functions, by globals(), and a global statement at module level."""

global a
a = 4
log = []


def change():
    global a, made
    a += 10
    made = 11
    log.append(a)


def shadow():
    a = "local"
    return a, globals()["a"]


change()
print(a, made, log, shadow())
globals()["by_name"] = 21
print(by_name)
del made
try:
    made
except NameError as error:
    print(error)


class Body:
    global b
    b = 33
    c = b + 1


print(b, Body.c, hasattr(Body, "b"), [n for n in globals() if not n.startswith("__")])
