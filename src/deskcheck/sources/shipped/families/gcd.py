def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


# ----
def common_divisor(x, y):
    while y != 0:
        rest = x % y
        x = y
        y = rest
    return x


# ----
def divide_out(m, n):
    if n == 0:
        return m
    return divide_out(n, m % n)


# ----
def euclid(p, q):
    while True:
        if p < q:
            p, q = q, p
        if q == 0:
            break
        p = p % q
    return p
