# call: f([0, 1, 2, 3, 4, 5])
def f(a):
    return a[::-1], a[4:1:-1], a[-2:-5:-1], a[::-2], a[10:], a[:-10], a[3:3], a[-1::-3], a[:2:-1], a[1:-1:2]

# call: f([0, 1, 2, 3, 4, 5])
def f(a):
    a[1:3] = [9, 9, 9]
    a[:0] = [7]
    a[len(a):] = 'xy'
    a[::3] = [0] * len(a[::3])
    del a[1:3]
    del a[-1]
    a[2:2] = []
    return a

# call: f([1, 2, 3, 4])
def f(a):
    try:
        a[::2] = [1, 2, 3]
    except ValueError as e:
        return str(e), a

# call: f([0, 1, 2, 3, 4, 5, 6])
def f(a):
    del a[::2]
    b = a[:]
    del b[::-1]
    a[::-1] = a[:]
    return a, b

# call: f(3)
def f(n):
    row = [0] * n
    bad = [row] * n
    good = [[0] * n for _ in range(n)]
    bad[0][1] = 5
    good[0][1] = 5
    return bad, good, bad[0] is bad[2], row

# call: f([1, 2])
def f(a):
    b = a
    b += [3]
    c = a
    c = c + [4]
    d = a[:]
    d.append(a)
    a.append(9)
    return a, b is a, c, d, d[-1] is b

# call: f([1, 2, 3, 4, 5, 6])
def f(a):
    for v in a:
        if v % 2 == 0:
            a.remove(v)
    return a

# call: f([1, 2, 2, 3, 2, 2])
def f(a):
    for v in a:
        if v == 2:
            a.remove(v)
    for i, v in enumerate(a):
        if len(a) < 9:
            a.append(v * 10)
    return a

# call: f([3, 2, 1])
def f(a):
    for i in range(len(a)):
        a.insert(i, a.pop())
    for v in a:
        a.insert(0, 0) if len(a) < 6 else None
    return a

# call: f([5, 3, 8])
def f(a):
    out = [a.pop(), a.pop(0), len(a)]
    for i in (5, -3, 0, 0):
        try:
            out.append(a.pop(i))
        except IndexError as e:
            out.append(str(e))
    return out

# call: f([1, 2, 1])
def f(a):
    out = [a.index(1, 1), a.count(1)]
    for g in (lambda: a.index(7), lambda: a.remove(7), lambda: a.index(1, 3)):
        try:
            g()
        except ValueError as e:
            out.append(str(e))
    return out

# call: f([3, 1, 2])
def f(a):
    b = sorted(a)
    c = a.sort()
    a.sort(reverse=True)
    a.reverse()
    d = a.sort(key=lambda v: -v)
    return a, b, c, d, list(reversed(a)), a == b

# call: f([('b', 2), ('a', 2), ('c', 1), ('a', 1)])
def f(a):
    return sorted(a), sorted(a, key=lambda p: p[1]), sorted(a, key=lambda p: p[1], reverse=True), sorted(a, key=lambda p: (-p[1], p[0])), max(a), min(a, key=lambda p: p[::-1])

# call: f(['bb', 'a', 'ccc', 'B', ''])
def f(a):
    return sorted(a, key=len), sorted(a, reverse=True), sorted(a, key=lambda s: s.lower()), max(a, key=len), min(a)

# call: f([[1, 2], [1], [], [1, 2, 0]])
def f(a):
    return sorted(a), [1, 2] < [1, 3], [1] < [1, 0], [] < [0], [1, 2] == [1, 2], (1, 2) < (1, 2, 3), [2] > [1, 9], [1] == (1,), [1, [2]] == [1, [2]]

# call: f([1, 'a'])
def f(a):
    try:
        sorted(a)
    except TypeError as e:
        return str(e)

# call: f((1, [2], 3))
def f(t):
    t[1].append(4)
    try:
        t[1] += [5]
    except TypeError as e:
        return t, str(e)
    return t

# call: f((1, 2, 3))
def f(t):
    a, *b = t
    *c, d = t
    (e, g), *h = (t[:2], t[2])
    i, = [9]
    [j, k] = 'xy'
    first, *_, last = range(5)
    *every, = 'ab'
    return a, b, c, d, e, g, h, i, j, k, first, last, _, every

# call: f([1, 2, 3])
def f(a):
    out = []
    for g in (1, 2, 4):
        try:
            if g == 1:
                x, = a
            elif g == 2:
                x, y = a
            else:
                x, y, z, w = a
        except ValueError as e:
            out.append(str(e))
    try:
        x, y, z, *w, v = a
    except ValueError as e:
        out.append(str(e))
    return out

# call: f([1, 2, 3])
def f(a):
    i = 0
    i, a[i] = 2, 9
    a[0], a[1], a[2] = a[2], a[0], a[1]
    x = y = z = []
    x.append(1)
    p, q = q, p = 1, 2
    return i, a, z, p, q

# call: f([4, 5, 6])
def f(a):
    return list(enumerate(a)), list(enumerate(a, -1)), list(zip(a, 'ab')), list(zip(a, a[1:], a[2:])), list(zip()), list(map(lambda x, y: x * y, a, [1, 2])), list(filter(None, [0, 1, '', 'a', [], None])), dict(zip('ab', a))

# call: f([[1, 2, 3], [4, 5, 6]])
def f(m):
    t = [list(r) for r in zip(*m)]
    return t, [sum(r) for r in m], [[v * 2 for v in r if v % 2] for r in m], [v for r in m for v in r], sum(m, []), max(max(r) for r in m), list(map(sum, zip(*m)))

# call: f([1, 2, 3])
def f(a):
    it = iter(a)
    b = next(it)
    a.append(4)
    rest = list(it)
    return b, rest, next(it, 'none'), list(it)

# call: f([1, 2, 3, 4, 5])
def f(a):
    it = iter(a)
    pairs = list(zip(it, it))
    s = 0
    for x in it:
        s += x
    return pairs, s

# call: f([1, 2])
def f(a):
    a.append(a)
    b = [a, a]
    return len(a), a[2] is a, a[2][2][2][0], b[0] is b[1], str(a), b

# call: f([1, [2, [3, [4]]]])
def f(a):
    def flat(x):
        if not isinstance(x, list):
            return [x]
        return [w for v in x for w in flat(v)]
    def depth(x):
        return 1 + max(map(depth, x), default=0) if isinstance(x, list) else 0
    return flat(a), depth(a)

# call: f([])
def f(a):
    return a or 'empty', a and 1, not a, a == [], a is not None, bool([0]), bool(()), bool(''), bool(' '), bool({}), bool(0.0), bool([[]]), list(a), tuple(a), a * 3, a + a, a[:1], all([[], []]), any([[], []])

# call: f([1, 2, 3])
def f(a):
    b = a.copy()
    c = list(a)
    d = [*a, *a]
    a.extend(a)
    a.extend(x for x in 'ab')
    a.extend({7: 8})
    b.clear()
    return a, b, c, d, (*c, 4), 2 in c, 9 not in c, [1] in [[1]], c.extend([])

# call: f(10)
def f(n):
    r = range(0, n, 3)
    return list(r), len(r), r[1], r[-1], 6 in r, 7 in r, list(r[::-1]), list(range(5, 0)), list(range(5, 0, -2)), list(range(-3, 3)), sum(r), range(3) == range(0, 3) if False else 0, r

# call: f()
def f():
    try:
        range(1, 5, 0)
    except ValueError as e:
        return str(e)

# call: f([3, 1, 2])
def f(a):
    out = []
    for g in (a.append(1), a.sort(), a.reverse(), a.insert(100, 5), a.insert(-100, 6), a.insert(-1, 7)):
        out.append(g)
    return a, out

# call: f([1, 2, 3])
def f(a):
    a[-1], a[0] = a[0], a[-1]
    a[a[0] - 1] -= 5
    a[1] *= a[1]
    a[0:1] += [8]
    m = [[0, 1], [2, 3]]
    m[1][0] += m[0][1] ** 2
    return a, m

# call: f([2, 7, 11, 15])
def f(a):
    lo, hi = 0, len(a) - 1
    seen = []
    while lo <= hi:
        mid = (lo + hi) // 2
        seen.append(mid)
        if a[mid] < 11:
            lo = mid + 1
        elif a[mid] > 11:
            hi = mid - 1
        else:
            return mid, seen
    return -1

# call: f([True, 1, 1.0, 0, False, 2])
def f(a):
    return sorted(a), a.count(True), a.index(0), sorted(a, key=lambda v: not v), [v for v in a if v is True], sum(a), max(a), min(a), a.count(1.0)

# call: f([1, 2, 3])
def f(a):
    out = []
    for i in (3, -4, 2.0, 'x', None):
        try:
            out.append(a[i])
        except IndexError as e:
            out.append(str(e))
        except TypeError:
            out.append('type')
    return out
