# call: f({'b': 1, 'a': 2})
def f(d):
    d['c'] = 3
    d['b'] = 9
    del d['a']
    d['a'] = 0
    return list(d), list(d.items()), d, d.pop('b'), d.pop('zz', None), len(d), d.popitem(), d

# call: f({})
def f(d):
    out = []
    for g in (lambda: d['x'], lambda: d.pop('x'), lambda: d.popitem(), lambda: {}[(1, 2)], lambda: d[None]):
        try:
            out.append(g())
        except KeyError as e:
            out.append(str(e))
    return out

# call: f({1: 'a', 2: 'b', 3: 'c'})
def f(d):
    out = []
    try:
        for k in d:
            out.append(k)
            del d[k]
    except RuntimeError as e:
        out.append(str(e))
    return out, d

# call: f({1: 1})
def f(d):
    try:
        for k in d:
            d[k + 1] = k
    except RuntimeError as e:
        return str(e), d

# call: f({1: 1, 2: 2})
def f(d):
    for k in d:
        d[k] *= 10
    for k, v in d.items():
        d[k] = v + 1
    for k in list(d):
        del d[k]
        d[-k] = k
    return d

# call: f({'a': 1})
def f(d):
    view, keys, items = d.values(), d.keys(), d.items()
    d['b'] = 2
    return list(view), list(keys), list(items), 'b' in keys, 2 in view, ('a', 1) in items, len(view), sorted(keys), 'a' in d, 1 in d

# call: f([('a', 1), ('b', 2), ('a', 3)])
def f(p):
    d = dict(p)
    g = {}
    for k, v in p:
        g.setdefault(k, []).append(v)
    return d, g, dict(g, c=1), dict(x=1), {**d, 'a': 0}, d | {'z': 1}, dict.fromkeys('ab', 0), dict([]), {k: v for v, k in p}

# call: f({'a': {'b': [1, 2]}})
def f(d):
    e = d.copy()
    e['a']['b'].append(3)
    e['x'] = d
    d['a']['c'] = d['a']['b']
    d['a']['c'].append(4)
    return d, e['a'] is d['a'], e['x']['a']['b'][-1]

# call: f({1: 'a'})
def f(d):
    d.update({2: 'b'})
    d.update([(3, 'c')], k=4)
    d |= {1: 'z'}
    d.update()
    e = {**d}
    d.clear()
    return d, e, e == {1: 'z', 2: 'b', 3: 'c', 'k': 4}, e != d, {1: 2, 3: 4} == {3: 4, 1: 2}

# call: f({3: 'c', 1: 'a', 2: 'b'})
def f(d):
    return sorted(d), sorted(d.items(), key=lambda kv: kv[1], reverse=True), max(d), min(d.values()), sum(d), list(reversed(d)), dict(sorted(d.items())), {v: k for k, v in d.items()}, list(enumerate(d)), [*d], d.get(9), d.get(1, 0)

# call: f(1)
def f(n):
    d = {n: 'int', True: 'bool', 1.0: 'float', '1': 'str', (1,): 'tuple', None: 'none', 0: 'zero', False: 'false'}
    return d, d[1], d[0.0], len(d), (1.0,) in d

# call: f([1])
def f(a):
    out = []
    for g in (lambda: {a: 1}, lambda: {a}, lambda: {{}: 1}, lambda: {(1, a): 2}):
        try:
            out.append(g())
        except TypeError as e:
            out.append(str(e))
    return out

# call: f({3, 1, 2}, {2, 3, 4})
def f(a, b):
    return sorted(a | b), sorted(a & b), sorted(a - b), sorted(a ^ b), a < b, {1} < a, a <= a, a >= {1, 2}, a == {1, 2, 3}, a != b, a.isdisjoint({9}), a.issubset(b), a.union([7]) == {1, 2, 3, 7}

# call: f({1, 2, 3})
def f(s):
    s.add(2)
    s.add(9)
    s.discard(100)
    s.remove(1)
    s |= {5}
    s -= {2}
    s &= {3, 5, 7}
    s ^= {7}
    try:
        s.remove(42)
    except KeyError as e:
        return sorted(s), str(e), len(s), 3 in s

# call: f({1})
def f(s):
    out = []
    try:
        for v in s:
            s.add(v + 1)
    except RuntimeError as e:
        out.append(str(e))
    s.clear()
    try:
        s.pop()
    except KeyError as e:
        out.append(str(e))
    return out, s, set(), {*()}, set('aa')

# call: f([3, 1, 3, 2, 1])
def f(a):
    seen, out = set(), []
    for v in a:
        if v not in seen:
            seen.add(v)
            out.append(v)
    return out, list(dict.fromkeys(a)), sorted(set(a)), len({*a}), frozenset(a) == set(a), {frozenset([1]): 2}[frozenset({1})]

# call: f(20)
def f(n):
    s = {k * 7 % 32 for k in range(n)}
    return list(s), [v for v in s if v > 10], sum(s), s.pop(), max(s), min(s)

# call: f({'x': [1], 'y': [2]})
def f(d):
    for k, v in d.items():
        v.append(k)
    d['x'], d['y'] = d['y'], d['x']
    a = d.pop('x')
    d[a[0]] = a
    d['self'] = d
    return len(d), d['self'] is d, d[2] is a, str(d)

# call: f('mississippi')
def f(s):
    d = {}
    for i, c in enumerate(s):
        d[c] = d.get(c, ()) + (i,)
    return d, {k: len(v) for k, v in d.items()}, sorted(d, key=lambda k: (-len(d[k]), k)), [k for k in d if len(d[k]) == 1]

# call: f({(0, 0): 1, (0, 1): 2, (1, 0): 3})
def f(g):
    for (x, y), v in sorted(g.items()):
        g[x + 1, y] = g.get((x + 1, y), 0) + v
    return g, g[2, 0], (5, 5) in g, min(g), max(g, key=lambda p: g[p])

# call: f({'a': ['b', 'c'], 'b': ['d'], 'c': ['d'], 'd': []})
def f(g):
    order, seen = [], set()
    def visit(n):
        if n in seen:
            return
        seen.add(n)
        for m in g[n]:
            visit(m)
        order.append(n)
    for n in g:
        visit(n)
    return order[::-1], len(seen)

# call: f({0: [1, 2], 1: [3], 2: [3], 3: [0]})
def f(g):
    far, queue = {0: 0}, [0]
    while queue:
        n = queue.pop(0)
        for m in g[n]:
            if m not in far:
                far[m] = far[n] + 1
                queue.append(m)
    return far

# call: f({})
def f(d):
    d[1] = d.get(1, 0) + 1
    d[1] += 1
    d.setdefault(2, d.setdefault(1, 7))
    d[3] = d[4] = []
    d[3].append(d.setdefault(5))
    return d, d[3] is d[4], 5 in d, not d, len(d)

# call: f([{'n': 2}, {'n': 1}, {'m': 0}])
def f(rows):
    good = [r for r in rows if 'n' in r]
    good.sort(key=lambda r: r['n'])
    good[0]['n'] += 10
    return good, rows, sum(r.get('n', 0) for r in rows), rows[0] is good[1], [*rows[0].items()]

# call: f({1: 2, 3: 4})
def f(d):
    e = d
    e[5] = 6
    d = {**d, 1: 0}
    e[7] = 8
    return d, e, d.keys() & e.keys() if False else len(d)

# call: f({'a': 1, 'b': 2})
# outside: dict_keys & set
def f(d):
    return d.keys() & {'a'}, d.keys() - {'a'}, d.keys() | {'c'} == {'a', 'b', 'c'}, d.items() & {('a', 1)}, d.keys() == {'b', 'a'}

# call: f(frozenset({1, 2}))
def f(s):
    t = s | {3}
    u = {0} | s
    return isinstance(t, frozenset), isinstance(u, frozenset), s == {1, 2}, {s: 1}[frozenset([1, 2])], len(t), s - {1}
