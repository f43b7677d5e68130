def matrix_power(a, n):
    result = [[1, 0], [0, 1]]
    for _ in range(n):
        product = [[0, 0], [0, 0]]
        for i in range(2):
            for j in range(2):
                for k in range(2):
                    product[i][j] = (product[i][j] + result[i][k] * a[k][j]) % 10
        result = product
    return result


# ----
def multiply(p, q):
    out = []
    for row in p:
        line = []
        for j in range(2):
            line.append((row[0] * q[0][j] + row[1] * q[1][j]) % 10)
        out.append(line)
    return out


def power(m, times):
    out = [[1, 0], [0, 1]]
    while times > 0:
        out = multiply(out, m)
        times -= 1
    return out


# ----
def raise_to(base, exponent):
    w, x, y, z = 1, 0, 0, 1
    e = 0
    while e < exponent:
        s = (w * base[0][0] + x * base[1][0]) % 10
        t = (w * base[0][1] + x * base[1][1]) % 10
        u = (y * base[0][0] + z * base[1][0]) % 10
        v = (y * base[0][1] + z * base[1][1]) % 10
        w, x, y, z = s, t, u, v
        e += 1
    return [[w, x], [y, z]]


# ----
def apply(grid, row):
    left = row[0] * grid[0][0] + row[1] * grid[1][0]
    right = row[0] * grid[0][1] + row[1] * grid[1][1]
    return [left % 10, right % 10]


def repeated(grid, count):
    first = [1, 0]
    second = [0, 1]
    for _ in range(count):
        first = apply(grid, first)
        second = apply(grid, second)
    return [first, second]
