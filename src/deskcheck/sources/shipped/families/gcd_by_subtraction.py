def gcd(a, b):
    while a != b:
        if a > b:
            a = a - b
        else:
            b = b - a
    return a


# ----
def measure(x, y):
    while True:
        if x == y:
            return x
        if x < y:
            y -= x
        else:
            x -= y


# ----
def common(m, n):
    while n > 0:
        if m < n:
            m, n = n, m
        m -= n
        if m == 0:
            return n
    return m


# ----
def smaller_sides(long, short):
    squares = 0
    while long != short:
        if long < short:
            long, short = short, long
        long = long - short
        squares += 1
    return long
