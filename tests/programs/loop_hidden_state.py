"""Loops whose locals are the same in each turn: only the iterator tells how many turns are left."""

count = 0
for x in [5, 5, 5]:
    pass
print(x)
for _ in range(3):
    for _ in range(2):
        count += 1
        count -= 1
print(count)
a = 12
it = iter("abcd")
for c in it:
    c = next(it)
    c = "same"
print(c, next(it, "empty"))
for c in "xx":
    c = "same"
    for c in ():
        pass
print(c)
pairs = [(u, v) for u in (1, 1) for v in (2, 2)]
print(pairs, any(0 for _ in range(4)))
