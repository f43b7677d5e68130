def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


# ----
def ack(a, b):
    stack = [a]
    while stack:
        top = stack.pop()
        if top == 0:
            b += 1
        elif b == 0:
            stack.append(top - 1)
            b = 1
        else:
            stack.append(top - 1)
            stack.append(top)
            b -= 1
    return b


# ----
def deep(x, y):
    if x > 0:
        if y > 0:
            inner = deep(x, y - 1)
        else:
            inner = 1
        result = deep(x - 1, inner)
    else:
        result = y + 1
    return result


# ----
def climb(k, n):
    while k > 0:
        if n == 0:
            n = 1
        else:
            n = climb(k, n - 1)
        k -= 1
    return n + 1
