"""A list dies and another is made, likely where it lay, before the next event: they are two objects."""

xs = [1, 2]
ys = [0]
xs = [[7], 0][1] or [3]
for _ in range(3):
    ys = [[8], list(xs)][1]
    print(xs is ys, iter(ys).__length_hint__())
