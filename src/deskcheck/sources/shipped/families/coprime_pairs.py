def coprime_pairs(n):
    count = 0
    for i in range(1, n + 1):
        for j in range(1, i):
            a = i
            b = j
            while b:
                a, b = b, a % b
            if a == 1:
                count += 1
    return count


# ----
def gcd(x, y):
    while y > 0:
        x, y = y, x % y
    return x


def count_pairs(limit):
    found = 0
    for high in range(2, limit + 1):
        for low in range(1, high):
            if gcd(high, low) == 1:
                found = found + 1
    return found


# ----
def pairs(top):
    total = 0
    p = 2
    while p <= top:
        q = 1
        while q < p:
            m = p
            k = q
            while k != 0:
                rest = m % k
                m = k
                k = rest
            if m == 1:
                total += 1
            q += 1
        p += 1
    return total


# ----
def is_coprime(a, b):
    while b:
        rest = a % b
        a = b
        b = rest
    return a == 1


def how_many(n):
    number = 0
    for a in range(1, n + 1):
        b = 1
        while b < a:
            number += is_coprime(a, b)
            b += 1
    return number
