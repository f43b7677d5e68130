"""Recursion: the same lines in many frames, each with its own locals."""


def factorial(n):
    if n <= 1:
        return 1
    rest = factorial(n - 1)
    return n * rest


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def flatten(tree):
    flat = []
    for branch in tree:
        if isinstance(branch, list):
            flat += flatten(branch)
        else:
            flat.append(branch)
    return flat


def hanoi(n, a="A", b="B", c="C"):
    return hanoi(n - 1, a, c, b) + [a + c] + hanoi(n - 1, b, a, c) if n else []


def permutations(items):
    if not items:
        return [[]]
    return [[x, *p] for i, x in enumerate(items) for p in permutations(items[:i] + items[i + 1:])]


print(factorial(10), fib(8), flatten([1, [2, [3, []], 4], [[5]]]), "-".join(hanoi(3)), permutations([1, 2, 3]))
