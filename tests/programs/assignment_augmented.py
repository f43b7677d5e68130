"""Augmented assignment: in place for a list, a new object for a tuple, once only for a subscript with a side effect."""

a = [3]
b = a
a += [5]
print(a is b, b)
c = (7,)
d = c
c += (9,)
print(c is d, c, d)
n = 11
n -= 1
n *= 3
n //= 4
n **= 2
n %= 10
n <<= 3
n |= 1
n ^= 0xFF
print(n)


def index(calls=[]):
    calls.append(len(calls))
    return calls[-1]


a[index()] += 100
a[index()] += 100
print(a, index())
t = ([],)
try:
    t[0] += ["done although it raised"]
except TypeError as error:
    print(type(error).__name__, t)
