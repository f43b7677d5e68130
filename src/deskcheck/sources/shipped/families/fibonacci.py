def fibonacci(n):
    a = 0
    b = 1
    for _ in range(n):
        a, b = b, a + b
    return a


# ----
def fib(n):
    previous, current = 0, 1
    while n > 0:
        following = previous + current
        previous = current
        current = following
        n -= 1
    return previous


# ----
def nth(index):
    pair = [0, 1]
    k = 0
    while k < index:
        pair.append(pair[0] + pair[1])
        pair.pop(0)
        k += 1
    return pair[0]


# ----
def fib_number(count):
    x = 0
    y = 1
    for i in range(count):
        if i % 2 == 0:
            x = x + y
        else:
            y = x + y
    return x if count % 2 == 0 else y
