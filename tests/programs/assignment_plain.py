"""Plain assignments: chained, unpacked, swapped, starred."""

a = 3
b = 4
c = d = 5
e, (f, g) = 6, (7, 8)
a, b = b, a
first, *middle, last = range(8, 13)
*init, end = "nine"
(h), [i, j] = 10, (11, 12)
b: int = 11
print(a, b, c, d, e, f, g, h, i, j)
print(first, middle, last, init, end)
i = 0
row = [10, 20, 30]
i, row[i] = 2, "stored at the new i"
print(i, row)
