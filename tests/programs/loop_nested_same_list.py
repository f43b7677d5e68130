"""Nested for loops over the same list: two iterators, each with its own place."""

a = [3, 4, 5]
pairs = []
for x in a:
    for y in a:
        if x < y:
            pairs.append((x, y))
print(pairs)

it = iter(a)
for x in it:
    for y in it:
        print(x, y)
print(list(it))

for x in a:
    for x in a:
        pass
    print("inner name wins", x)
