def lcg(x, n):
    for _ in range(n):
        x = (x * 5 + 3) % 64
    return x


# ----
def random_number(state, count):
    while count > 0:
        state = 5 * state + 3
        state = state % 64
        count -= 1
    return state


# ----
def advance(seed):
    return (5 * seed + 3) % 64


def nth_random(seed, n):
    i = 0
    while i < n:
        seed = advance(seed)
        i += 1
    return seed


# ----
def draw(value, times):
    step = 0
    while step != times:
        value *= 5
        value += 3
        while value >= 64:
            value -= 64
        step += 1
    return value
