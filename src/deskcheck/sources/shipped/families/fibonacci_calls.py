def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


# ----
def f(k):
    if k == 0:
        return 0
    if k == 1:
        return 1
    left = f(k - 1)
    right = f(k - 2)
    return left + right


# ----
def rabbits(month):
    if month > 1:
        young = rabbits(month - 2)
        old = rabbits(month - 1)
        total = young + old
    else:
        total = month
    return total


# ----
def grow(n):
    total = 0
    while n > 1:
        total += grow(n - 2)
        n -= 1
    return total + n
