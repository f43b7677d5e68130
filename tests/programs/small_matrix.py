"""Matrices as lists of lists: transposed, multiplied, turned, a game of life for three rounds."""


def multiply(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def life(cells):
    neighbours = {}
    for x, y in cells:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    key = x + dx, y + dy
                    neighbours[key] = neighbours.get(key, 0) + 1
    return {cell for cell, n in neighbours.items() if n == 3 or n == 2 and cell in cells}


a = [[1, 2], [3, 4]]
print(multiply(a, a), [list(r) for r in zip(*a)], [list(r) for r in zip(*a[::-1])])
cells = {(1, 0), (1, 1), (1, 2)}
for turn in range(3):
    cells = life(cells)
    print(turn, sorted(cells))
