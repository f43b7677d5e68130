"""Iterators kept in variables: they must stand where the program left them, whatever looks at them."""

import itertools

a = iter([1, 2, 3])
b = map(lambda x: print("mapped", x) or x * 2, [1, 2, 3])
c = zip("abc", itertools.count(10))
d = filter(lambda x: print("filtered", x) or x % 2, range(4))
e = enumerate("xyz")
f = reversed([1, 2, 3])
g = (print("made", x) or x for x in range(3))
h = itertools.cycle("ab")
i = iter({"k": 1, "l": 2}.items())
j, k = itertools.tee(iter("tee"))
m = itertools.groupby("aabbb")
print("nothing has run yet")
print(next(a), next(b), next(c), next(d), next(e), next(f), next(g), next(h), next(i), next(j))
x = 0
x += 1
print([next(it) for it in (a, b, c, d, e, f, g, h, i, j, k)])
print(a.__length_hint__(), f.__length_hint__(), list(k), [(key, len(list(grp))) for key, grp in m])
a = b = c = d = e = f = g = None
print("dropped")
