"""A list dies and another is made, likely where it lay, before the next event: they are two objects."""

xs = [1, 2]
ys = [0]
xs = None; xs = [3]
for _ in range(3):
    ys = None; ys = list(xs)
    print(xs is ys, iter(ys).__length_hint__())
