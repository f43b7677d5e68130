"""A list modified while it is iterated: items are skipped, or come after all."""

a = [3, 4, 5, 6]
seen = []
for x in a:
    seen.append(x)
    if x % 2:
        a.remove(x)
print(seen, a)

b = [1]
for x in b:
    if len(b) < 6:
        b.append(x * 2)
print(b)

c = [1, 2, 3]
it = iter(c)
print(next(it))
c.clear()
print(list(it))
c.extend([7, 8, 9])
print(list(it), c)
