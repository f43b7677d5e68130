"""Star-unpacking, dict and set operations, slices: what the literals and operators of containers give."""

a = [*range(3), *"ab"]
b = {**{"x": 1}, "y": 2, **{"x": 5}}
c = {*a[:2], *(1, 2)}
d = b | {"z": 6}
b |= [("w", 7)]
print(a, b, sorted(c), d)
print(sorted({1, 2, 3} & {2, 3, 4}), sorted({1} | {2}), sorted({1, 2} - {2}), sorted({1, 2} ^ {2, 3}), {1} < {1, 2})
a[1:3] = ["sliced"]
a[::2] = "XY"
del a[0]
print(a, a[-1:], a[5:])
e = frozenset([1]), {frozenset([2]): 3}
print(e, d.keys() & b.keys() == {"x", "y"}, list(d.items())[-1])
b.setdefault("new", []).append(17)
popped = b.pop("x"), b.pop("absent", "default"), b.popitem()
print(b, popped, dict.fromkeys("ab", 0), dict(zip("ab", [1, 2])))
print(*a, *{"k": 1}, sep="-", end=".\n")
print(set(), (), {}, [], (1,), {1}, ..., NotImplemented, slice(1, None), range(0, 10, 3))
