x = 1


def f(a, *b, **c):
    d = 2
    return locals(), sorted(vars())


print(f(1, 2, k=3), "f" in globals(), sorted(k for k in globals() if k.startswith("__")))


class A:
    y = x
    names = sorted(n for n in locals() if not n.startswith("__"))


print(A.names, [locals().keys() and v for v in (1, 2)])
