"""A sieve, Collatz, gcd, a perfect-number search: plain arithmetic in plain loops."""


def sieve(n):
    prime = [True] * (n + 1)
    prime[:2] = [False, False]
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            for j in range(i * i, n + 1, i):
                prime[j] = False
    return [i for i, p in enumerate(prime) if p]


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


print(sieve(50), collatz(27), [gcd(a, b) for a, b in ((12, 18), (17, 5), (0, 9))])
print([n for n in range(2, 30) if n == sum(d for d in range(1, n) if n % d == 0)])
