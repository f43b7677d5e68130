def table_sum(rows, columns):
    total = 0
    for i in range(rows):
        for j in range(columns):
            total = (total + i * j) % 1000
    return total


# ----
def grid(height, width):
    result = 0
    y = 0
    while y < height:
        x = 0
        while x < width:
            result += x * y
            result %= 1000
            x += 1
        y += 1
    return result


# ----
def row_sum(start, row, width):
    for k in range(width):
        start = (start + row * k) % 1000
    return start


def sum_rows(n, m):
    value = 0
    for row in range(n):
        value = row_sum(value, row, m)
    return value


# ----
def products(a, b):
    s = 0
    for cell in range(a * b):
        p = cell // b
        q = cell % b
        s = s + p * q
        if s >= 1000:
            s = s % 1000
    return s
