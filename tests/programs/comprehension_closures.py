"""Closures made inside comprehensions: one cell for each comprehension, and it outlives the loop."""


def main():
    i = "outer"
    late = [lambda: i for i in range(3)]
    early = [lambda i=i: i for i in range(3)]
    nested = [[lambda: (i, j) for j in range(2)] for i in range(2)]
    holder = {k: (lambda: k) for k in "ab"}
    print([f() for f in late], [f() for f in early], [[f() for f in row] for row in nested], holder["a"]())
    peek = lambda: i
    return i, peek(), [peek() for i in range(2)]


print(main())


def counters():
    total = 0

    def add(n):
        nonlocal total
        total += n
        return total

    return [add(n) for n in range(4)], [total for _ in range(2)], total


print(counters())
print([f() for f in [lambda: g for g in range(3)]], "g" in globals())
