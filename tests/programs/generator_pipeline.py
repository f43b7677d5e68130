"""Generators feeding one another: events of several frames take turns."""


def lines(text):
    for line in text.split(";"):
        yield line


def words(source):
    for line in source:
        for word in line.split():
            yield word.strip(".")


def numbered(source, start=0):
    n = start
    for item in source:
        yield n, item
        n += 1


def unique(source):
    seen = set()
    for n, word in source:
        if word not in seen:
            seen.add(word)
            yield n, word


print(list(unique(numbered(words(lines("a b.;b c;c a d")), 10))))


def primes():
    n, sieve = 2, []
    while True:
        if all(n % p for p in sieve):
            sieve.append(n)
            yield n
        n += 1


print([p for p, _ in zip(primes(), range(8))])
