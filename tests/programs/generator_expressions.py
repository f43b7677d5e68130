"""Generator expressions: made lazily, the first iterable at once; consumed wholly, in part, or never."""


def note(x):
    print("note", x)
    return x


a = (note(x) for x in note([1, 2, 3]))
print("made")
print(next(a))
b = (y for y in a if y > 2)
print(next(b), next(b, "empty"), list(a))
c = (note("never") for _ in range(3))
d = ((i, j) for i in range(2) for j in range(i + 1))
print(sum(n * n for n in range(5)), list(d), max((len(w) for w in ("a", "bbb")), default=0))
print(2 in (note(x) for x in range(5)))
e = (1 / x for x in (1, 0, 2))
print(next(e))
try:
    next(e)
except ZeroDivisionError:
    print("raised, now finished:", list(e))
f = (x for x in range(10))
f.close()
print(list(f), c.gi_frame.f_lineno, c.gi_running)
