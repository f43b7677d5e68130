def longest_chain(limit):
    best = 1
    best_steps = 0
    for start in range(1, limit + 1):
        n = start
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > best_steps:
            best = start
            best_steps = steps
    return best


# ----
def champion(n):
    winner = 1
    record = 0
    i = 1
    while i <= n:
        x = i
        length = 0
        while x > 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            length = length + 1
        if length > record:
            record = length
            winner = i
        i += 1
    return winner


# ----
def chain(value):
    count = 0
    while value != 1:
        if value % 2 == 1:
            value = value * 3 + 1
        else:
            value //= 2
        count += 1
    return count


def best_start(top):
    best = 1
    longest = 0
    for k in range(1, top + 1):
        found = chain(k)
        if found > longest:
            longest = found
            best = k
    return best


# ----
def longest(bound):
    best = (0, 1)
    for n in range(1, bound + 1):
        m = n
        s = 0
        while m != 1:
            s += 1
            if m % 2:
                m = 3 * m + 1
                continue
            m = m // 2
        if s > best[0]:
            best = (s, n)
    return best[1]
