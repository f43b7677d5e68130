# call: f(3)
def f(n):
    fs = []
    for i in range(n):
        fs.append(lambda: i)
    gs = [lambda i=i: i for i in range(n)]
    hs = [lambda: j for j in range(n)]
    return [g() for g in fs], [g() for g in gs], [g() for g in hs]

# call: f(3)
def f(n):
    def counter():
        c = 0
        def up():
            nonlocal c
            c += 1
            return c
        def down():
            nonlocal c
            c -= 1
            return c
        return up, down
    u1, d1 = counter()
    u2, d2 = counter()
    return u1(), u1(), d1(), u2(), d2(), d2()

# call: f(3)
def f(n):
    x = n
    def g():
        def h():
            nonlocal x
            x *= 2
            return x
        return h() + x
    a = g()
    x += 1
    return a, x, g(), x

# call: f(3)
def f(n):
    def g():
        return later
    try:
        g()
    except NameError as e:
        m = str(e)
    later = n
    return m, g()

# call: f(800)
def f(n):
    return 0 if n == 0 else 1 + f(n - 1)

# call: f(250)
def f(n):
    def even(k):
        return True if k == 0 else odd(k - 1)
    def odd(k):
        return False if k == 0 else even(k - 1)
    return even(n), odd(n)

# call: f(2, 3)
def f(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return f(m - 1, 1)
    return f(m - 1, f(m, n - 1))

# call: f(20)
def f(n, memo={}):
    if n < 2:
        return n
    if n not in memo:
        memo[n] = f(n - 1) + f(n - 2)
    return memo[n]

# call: f(1, 2, 3, k=4, z=5)
def f(a, b=0, *args, k=1, **kw):
    def g(*a, **k):
        return a, k
    return a, b, args, k, kw, g(*args, **kw), g(*'ab', *[1], x=1, **{'y': 2}), g()

# call: f(1)
def f(a, /, b=2, *, c=3):
    def g(x, y=None, /, *z, w=()):
        return x, y, z, w
    return a, b, c, g(1), g(1, 2, 3, 4), g(1, w=[a]), g(*(1, 2)), g(*range(3), w=c)

# call: f(5)
def f(n):
    compose = lambda *fs: lambda x: x if not fs else compose(*fs[:-1])(fs[-1](x))
    add = lambda k: lambda x: x + k
    return compose(add(1), lambda x: x * 2, add(3))(n), (lambda: n)(), (lambda x, *y: (x, y))(1, 2, 3), (lambda **k: k)(a=1)

# call: f([1, 2, 3])
def f(a):
    def fold(g, xs, start):
        for x in xs:
            start = g(start, x)
        return start
    def apply(g, k):
        return g if k == 0 else lambda x: apply(g, k - 1)(g(x))
    return fold(lambda p, q: p * 10 + q, a, 0), fold(max, a, 0), fold(pow, a, 2), apply(lambda x: x + 1, 4)(0)

# call: f(4)
def f(n):
    def deco(g):
        def inner(*args):
            calls.append(args)
            return g(*args) * 2
        return inner
    calls = []
    @deco
    def h(x, y=1):
        return x + y
    return h(n), h(n, 5), calls

# call: f(4)
def f(n):
    def g(a=n, b=[n]):
        b.append(a)
        return b
    n = 100
    return g(), g(1), g(b=[]), g(2)

# call: f(3)
def f(n):
    return g(n) + h(n)
def g(n):
    return n * h(n)
def h(n):
    return n + OFFSET
OFFSET = 7

# call: f(5)
def make(k):
    def scale(v):
        return v * k
    return scale
double, triple = make(2), make(3)
def f(n):
    return double(n), triple(n), double(triple(n)), [m(n) for m in (double, triple)], list(map(double, range(n)))

# call: f('abc')
def f(s):
    if len(s) <= 1:
        return [s]
    return [c + rest for i, c in enumerate(s) for rest in f(s[:i] + s[i + 1:])]

# call: f([1, 2, 3])
def f(a):
    out = [[]]
    for v in a:
        out += [x + [v] for x in out]
    def power(i):
        if i == len(a):
            return [()]
        rest = power(i + 1)
        return rest + [(a[i], *r) for r in rest]
    return out, power(0)

# call: f(10)
def f(n):
    y = (lambda g: lambda k: g(g, k))(lambda s, k: 1 if k < 2 else k * s(s, k - 1))
    return y(n)

# call: f([3, 6, 1, 8, 2])
def f(a):
    if len(a) < 2:
        return a
    p, *rest = a
    return f([v for v in rest if v < p]) + [p] + f([v for v in rest if v >= p])

# call: f([5, 1, 4, 2, 3])
def f(a):
    if len(a) < 2:
        return a
    m = len(a) // 2
    x, y, out = f(a[:m]), f(a[m:]), []
    while x and y:
        out.append((x if x[0] <= y[0] else y).pop(0))
    return out + x + y

# call: f(3)
def f(n):
    x = 'outer'
    def g():
        x = 'inner'
        return x
    def h(x):
        x = x + '!'
        return x
    [x for x in range(n)]
    return g(), h(x), x, [x for _ in 'a']

# call: f(2)
def f(n):
    len = lambda v: 42
    sum = 7
    def max(*a):
        return 'mine'
    return len('abc'), sum, max(1, 2), [list, str][0]('ab')

# call: f(2)
def f(n):
    def outside():
        return n + 1
    return outside()

# call: f(2)
def f(n):
    try:
        return outside
    except NameError as e:
        return str(e)

# call: f(2)
MISSING = 5
def split(a, b):
    return a - b
def replaced(x):
    return 'mine'
def f(n):
    return 'a b'.split(), split(n, 1), MISSING, 'aa'.replace('a', 'b'), replaced(1), 'abc'.upper()

# call: f(100)
def f(n):
    def total(k, acc=0):
        return acc if not k else total(k - 1, acc + k)
    return total(n), total(n // 2)

# call: f(3)
def f(n):
    g = f
    if n == 0:
        return []
    return [n] + g(n - 1)

# call: f([1, 2, 3])
def f(xs):
    def change(xs):
        xs[0] = 99
        xs = [0]
        return xs
    ys = xs
    zs = change(xs)
    return xs, ys is xs, zs

# call: f(1, b=2)
def f(*args, **kwargs):
    args += (3,)
    kwargs['c'] = len(args)
    def g(a, b, c):
        return a * 100 + b * 10 + c
    return g(*args[:1], **kwargs), g(c=1, b=2, a=3), args, kwargs

# call: f(6)
def f(n):
    fs = {'+': lambda a, b: a + b, '-': lambda a, b: a - b}
    fs['*'] = lambda a, b: a * b
    return [fs[k](n, 3) for k in '+-*'], {k: g(2, 2) for k, g in fs.items()}, all(callable_(g) for g in fs.values())
def callable_(g):
    return g is not None

# call: f(4)
def f(n):
    def grow(tree, depth):
        return None if depth == 0 else (grow(tree, depth - 1), depth, grow(tree, depth - 2) if depth > 1 else None)
    def total(t):
        return 0 if t is None else total(t[0]) + t[1] + total(t[2])
    t = grow(None, n)
    return t, total(t)

# call: f(5)
def f(n):
    if n > 0:
        def g(): return 'a'
    else:
        def g(): return 'b'
    return g(), (lambda: (yield))() is None

# call: f(3)
def f(n, _acc=()):
    return _acc if n == 0 else f(n - 1, (n, _acc))

# call: f(7)
def f(n):
    seq = [n]
    def step(k):
        seq.append(k)
        return k if k == 1 else step(k // 2 if k % 2 == 0 else 3 * k + 1)
    step(n)
    return seq, len(seq), max(seq)
