"""`a = b = []` is one list under two names; two equal lists are two."""

a = b = []
c = []
a.append(5)
print(a, b, c, a is b, a == c)
row = [0] * 2
grid = [row] * 2
grid[0][1] = 9
print(grid, row)
grid = [[0] * 2 for _ in range(2)]
grid[0][1] = 12
print(grid)
d = {"x": a, "y": a, "z": list(a)}
d["x"].append(15)
print(d, d["x"] is d["y"], d["x"] is d["z"])
t = (a, [a], {"deep": [a]})
a.clear()
print(t)
