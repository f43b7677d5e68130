import sys

kept = []


def f(n):
    x = n * 2
    kept.append(sys._getframe())
    return x


f(1)
f(2)
print([k.f_locals["x"] for k in kept], kept[0].f_back is sys._getframe(), kept[0].f_trace, kept[0].f_lineno)
kept[0].clear()
print(kept[0].f_locals)
