"""Builtins replaced by functions that raise, and removed: the program lives without them for a while."""

import builtins


def broken(*args, **kwargs):
    raise RuntimeError("this builtin is broken")


names = ("len", "repr", "isinstance", "type", "id", "list", "dict", "tuple", "str", "int", "range", "enumerate", "print", "object")
saved = {name: getattr(builtins, name) for name in names}
keep = builtins.setattr
for name in names:
    keep(builtins, name, broken)
a = [1, 2]
a.append(3)
b = {"a": a}
c = a[0] + a[1]
try:
    len(a)
except RuntimeError as error:
    d = error
del builtins.len, builtins.print
try:
    len(a)
except NameError as error:
    e = error
for name in saved:
    keep(builtins, name, saved[name])
print(a, b, c, d, e)
