"""The builtins module itself patched: counted calls show who else uses len, isinstance, type, open, print."""

import builtins

calls = []
names = ("len", "isinstance", "repr", "id", "getattr", "hasattr", "sorted", "open", "print", "iter", "next", "hash", "vars")
real = {name: getattr(builtins, name) for name in names}


def patch(name):
    def patched(*args, **kwargs):
        calls.append(name)
        return real[name](*args, **kwargs)

    setattr(builtins, name, patched)


def work(n):
    total = []
    for i in range(n):
        total.append({"i": [i]})
    return len(total)


for name in names:
    patch(name)
a = work(3)
b = [n for n in range(3)]
print("patched print")
for name in real:
    setattr(builtins, name, real[name])
print(a, calls)
