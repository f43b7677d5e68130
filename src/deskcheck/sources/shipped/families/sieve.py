def sieve(n):
    marks = [1] * (n + 1)
    primes = []
    for i in range(2, n + 1):
        if marks[i]:
            primes.append(i)
            for j in range(i * i, n + 1, i):
                marks[j] = 0
    return primes


# ----
def cross_out(limit):
    left = []
    for k in range(2, limit + 1):
        left.append(k)
    at = 0
    while at < len(left):
        p = left[at]
        rest = []
        for k in left:
            if k == p or k % p != 0:
                rest.append(k)
        left = rest
        at += 1
    return left


# ----
def primes_up_to(top):
    crossed = set()
    found = []
    number = 2
    while number <= top:
        if number not in crossed:
            found.append(number)
            multiple = number + number
            while multiple <= top:
                crossed.add(multiple)
                multiple += number
        number += 1
    return found


# ----
def eratosthenes(n):
    out = [False] * (n + 1)
    p = 2
    while p * p <= n:
        if not out[p]:
            m = p * p
            while m <= n:
                out[m] = True
                m = m + p
        p = p + 1
    result = []
    for i in range(2, n + 1):
        if not out[i]:
            result.append(i)
    return result
