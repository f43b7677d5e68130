# call: f(4)
def f(n):
    return [[i * j for j in range(i)] for i in range(n)], [(i, j) for i in range(n) for j in range(i) if (i + j) % 2], {i: {j for j in range(i)} for i in range(n)}, [[x for x in y] for y in [[1], [2, 3]]]

# call: f(5)
def f(n):
    return sum(i for i in range(n)), list(i * i for i in range(n) if i % 2), max((i * 7 % 5, i) for i in range(n)), any(i > 3 for i in range(n)), all(i < 3 for i in range(n)), sorted((-i for i in range(n))), tuple(i for i in ()), dict((i, str(i)) for i in range(2)), set(i % 2 for i in range(n)), ''.join(str(i) for i in range(n))

# call: f(5)
def f(n):
    def g():
        for i in range(n):
            got.append('before')
            yield i
            got.append('after')
        got.append('end')
    got = []
    it = g()
    a = next(it)
    b = next(it)
    return a, b, got, next(iter([]), 'd'), list(it), got, next(it, None)

# call: f(3)
def f(n):
    def g(k):
        if k:
            yield from g(k - 1)
            yield k
            yield from [k] * k
    return list(g(n)), [*g(2)], sum(g(n))

# call: f(10)
def f(n):
    def fib():
        a, b = 0, 1
        while True:
            yield a
            a, b = b, a + b
    def take(k, it):
        for _, v in zip(range(k), it):
            yield v
    return list(take(n, fib())), [v for v in take(n, fib()) if v % 2 == 0]

# call: f(3)
def f(n):
    g = (x for x in range(n))
    a = list(g)
    b = list(g)
    h = (x for x in range(n))
    return a, b, 1 in h, list(h)

# call: f(5)
def f(n):
    def g():
        yield
        yield None
        return 5
    return list(g()), [x is None for x in g()]

# call: f(5)
def f(n):
    xs = [1, 2, 3]
    g = (x * k for x in xs for k in range(n - 3))
    xs.append(4)
    n = 5
    first = next(g)
    return first, list(g)

# call: f(3)
def f(n):
    x = 10
    a = [x for x in range(n)]
    b = [(x, y) for x in range(2) for y in (x, x + 1)]
    c = [x + y for y in range(2)]
    return a, b, c, x

# call: f([[1, 2], [3], []])
def f(a):
    return [v for r in a if r for v in r if v != 2], [len(r) for r in a], [r[0] if r else None for r in a], {len(r): r for r in a}, [i for i, r in enumerate(a) if not r], [[v, w] for v, w in zip(*a[:2])]

# call: f('hello')
def f(s):
    return {c: s.count(c) for c in s}, {c for c in s} == set(s), [c.upper() if c in 'aeiou' else c for c in s], {i: c for i, c in enumerate(s) if i % 2}, [a + b for a, b in zip(s, s[1:])], {s[i]: i for i in range(len(s))}

# call: f(4)
def f(n):
    rows = [[1]]
    for _ in range(n):
        last = rows[-1]
        rows.append([1] + [last[i] + last[i + 1] for i in range(len(last) - 1)] + [1])
    return rows, [[c for c in r if c % 2] for r in rows]

# call: f(3)
def f(n):
    m = [[i * n + j for j in range(n)] for i in range(n)]
    return [r[::-1] for r in m], [[m[j][i] for j in range(n)] for i in range(n)], [m[i][i] for i in range(n)], [sum(m[i][j] * m[j][i] for j in range(n)) for i in range(n)]

# call: f(30)
def f(n):
    return [(a, b, c) for a in range(1, n) for b in range(a, n) for c in [13] if a * a + b * b == c * c], [p for p in range(2, n) if all(p % d for d in range(2, p))]

# call: f(3)
def f(n):
    def walk(t):
        if isinstance(t, list):
            for x in t:
                yield from walk(x)
        else:
            yield t
    return list(walk([1, [2, [3, []], 4], [[n]]]))

# call: f(4)
def f(n):
    def evens(it):
        for x in it:
            if x % 2 == 0:
                yield x
    def squares(it):
        for x in it:
            yield x * x
    return list(squares(evens(range(n * 2)))), sum(squares(evens(squares(range(n)))))

# call: f(3)
def f(n):
    it = iter('abc')
    out = [next(it) for _ in range(n)]
    try:
        next(it)
    except StopIteration:
        out.append('stop')
    return out

# call: f(5)
def f(n):
    m = map(lambda x: x * 2, range(n))
    z = zip(range(n), 'abcdefg')
    e = enumerate('xy', start=n)
    fl = filter(lambda x: x % 2, range(n))
    return next(m), list(m), next(z), list(z), next(e), list(e), next(fl), list(fl), list(m)

# call: f(5)
def f(n):
    r = reversed([1, 2, 3])
    return next(r), list(r), list(reversed(range(n))), list(reversed('abc')), list(reversed((1, 2)))

# call: f(4)
def f(n):
    def g(k):
        while k:
            yield k
            k -= 1
    out = []
    for a in g(n):
        for b in g(a):
            if b == 2:
                break
            out.append((a, b))
    return out

# call: f(4)
# outside: a yield inside try
def f(n):
    def g():
        try:
            yield 1
            yield 2
        except ValueError:
            yield 'no'
    a = g()
    return next(a), [x for x in a], g() is g(), (1 for _ in []) is None

# call: f(4)
def f(n):
    def perms(a):
        if not a:
            yield []
        for i in range(len(a)):
            for p in perms(a[:i] + a[i + 1:]):
                yield [a[i]] + p
    return list(perms([1, 2, 3])), sum(1 for _ in perms(list(range(n))))

# call: f(4)
def f(n):
    gens = [(x * k for x in range(3)) for k in range(n)]
    return [list(g) for g in gens], [(lambda: k)() for k in range(n)]

# call: f([1, 2, 3, 4])
def f(a):
    i = 0
    r = [a[i := i + 1] for _ in range(3)]
    return r, i, [y := 5, y ** 2], [last := v for v in a][-1], last

# call: f(3)
def f(n):
    return [x if x else y for x in range(2) for y in range(n)], [[y for y in range(x)] or None for x in range(n)], [not x for x in (0, 1)], [(x, *y) for x, *y in ['abc', 'd']], [x for x in {3: 1, 1: 2}], {x: y for x, (y, z) in {1: (2, 3)}.items()}

# call: f(3)
def f(n):
    total = 0
    for chunk in ([k] * k for k in range(n)):
        for v in chunk:
            total += v
    for i, (a, b) in enumerate(zip('ab', (c for c in 'cd'))):
        total += i + len(a + b)
    return total

# call: f([3, 1, 2])
def f(a):
    g = (v for v in a)
    next(g)
    a.clear()
    return list(g), list(a)

# call: f(6)
def f(n):
    def windows(a, k):
        for i in range(len(a) - k + 1):
            yield a[i:i + k]
    return [sum(w) for w in windows(list(range(n)), 3)], max(windows('banana', 2)), list(windows([], 1)), min(windows([3, 1, 2], 2), key=sum)

# call: f(2)
def f(n):
    g = g2 = (i for i in range(n))
    return next(g), next(g2), next(g, 'over')

# call: f(2)
def f(n):
    def g():
        got = yield 1
        yield got
    it = g()
    return next(it), next(it)

# call: f(2)
def f(n):
    def g():
        while True:
            n_ = yield
            got.append(n_)
    got = []
    it = g()
    next(it)
    it.send(5)
    it.send(6)
    return got
