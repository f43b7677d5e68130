"""Mutual recursion, and a function that replaces itself while it runs."""


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def replaced(n):
    global replaced
    old = replaced

    def replaced(n):
        return f"new {n}"

    return f"old {n} then {replaced(n - 1)}, {old is replaced}"


print(even(10), odd(7), even(3))
print(replaced(2), replaced(1))
ack = lambda m, n: n + 1 if m == 0 else ack(m - 1, 1) if n == 0 else ack(m - 1, ack(m, n - 1))
print(ack(2, 2))
