import sys


class A:
    pass


def f(x):
    y = x
    return sys.getrefcount(x)


a = A()
l = [a, a]
print(sys.getrefcount(a), f(a), sys.getrefcount([]), sys.getrefcount(l))
d = {"k": a}
print(sys.getrefcount(a))
del d, l
print(sys.getrefcount(a))
