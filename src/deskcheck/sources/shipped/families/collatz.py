def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


# ----
def hailstone_length(number):
    count = 0
    while True:
        if number == 1:
            return count
        count = count + 1
        if number % 2 == 1:
            number = number * 3 + 1
        else:
            number //= 2


# ----
def next_value(x):
    if x % 2:
        return 3 * x + 1
    return x // 2


def stopping_time(start):
    x = start
    k = 0
    while x > 1:
        x = next_value(x)
        k += 1
    return k


# ----
def steps_to_one(value):
    total = 0
    while value > 1:
        odd = value % 2
        value = value * 3 + 1 if odd == 1 else value // 2
        total = total + 1
    return total


# ----
def collatz_steps(m):
    s = 0
    while m != 1:
        while m % 2 == 0:
            m //= 2
            s += 1
        if m == 1:
            break
        m = 3 * m + 1
        s += 1
    return s
