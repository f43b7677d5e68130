# call: f([1, 2, 0, 4])
def f(a):
    m, out = map(lambda v: 8 // v, a), []
    while True:
        try:
            out.append(next(m))
        except ZeroDivisionError:
            out.append('zero')
        except StopIteration:
            break
    p = filter(lambda v: 8 // v > 2, a)
    try:
        out += [next(p), next(p), next(p)]
    except ZeroDivisionError:
        out.append(list(p))
    return out

# call: f(2)
def f(n):
    def g():
        yield next(iter([]))
    try:
        return list(g())
    except RuntimeError as e:
        return str(e)

# call: f(2)
def f(n):
    def g():
        yield 1
        raise StopIteration
    out = []
    try:
        for v in g():
            out.append(v)
    except RuntimeError as e:
        out.append(str(e))
    return out

# call: f({'a': 1, 'b': 2})
# outside: a value of the kind dict_keys in a comparison
def f(d):
    return d.keys() == {'a', 'b'}, d.keys() != {'a'}, len(d.keys()), d.values() == d.values(), 'a' in d.keys()

# call: f({'a': 1})
# outside: a value of the kind dict_items in a comparison
def f(d):
    return d.items() == {('a', 1)}, d.keys() == d.keys()

# call: f([1, 'a', None, 2.5])
def f(a):
    out = []
    for g in (lambda: sorted(a), lambda: max(a), lambda: min(a), lambda: sorted(a[::-1]), lambda: sorted([(1, 'a'), (1, 2)]), lambda: max([None, 1])):
        try:
            out.append(g())
        except TypeError as e:
            out.append(str(e))
    return out

# call: f([3, 1, 'a', 2])
# outside: a list whose sort in place fails
def f(a):
    try:
        a.sort()
    except TypeError:
        return a

# call: f([3, 1, 2])
def f(a):
    seen = []
    a.sort(key=lambda v: seen.append(len(a)) or v)
    return a, seen

# call: f([3, 1, 2])
def f(a):
    try:
        a.sort(key=lambda v: a.append(v) or v)
    except ValueError as e:
        return str(e)

# call: f([3, 0, 2])
def f(a):
    try:
        a.sort(key=lambda v: 6 // v)
    except ZeroDivisionError:
        return a

# call: f([1, 2])
def f(a):
    a.extend(len(a) for _ in range(3))
    b = [0]
    b += (len(b) for _ in range(2))
    return a, b

# call: f([1])
def f(a):
    def g():
        yield 5
        yield 6 // 0
    s = {1}
    for put in (a.extend, s.update):
        try:
            put(g())
        except ZeroDivisionError:
            pass
    try:
        a += g()
    except ZeroDivisionError:
        pass
    return a, s

# call: f({1: 1, 2: 2})
def f(d):
    out = []
    for g in (lambda: list(map(lambda k: d.pop(k), d)), lambda: sum(d.pop(k) for k in d), lambda: list(zip([1], [1, 2], strict=True)), lambda: tuple(map(d.pop, d))):
        try:
            out.append(g())
        except (RuntimeError, ValueError) as e:
            out.append(str(e))
    return out, d

# call: f(3)
def f(n):
    out = []
    for g in (lambda: pow(2, 3, 0), lambda: pow(2, 3, 1), lambda: pow(0, 0, 1), lambda: pow(2, 3, -5)):
        try:
            out.append(g())
        except ValueError as e:
            out.append(str(e))
    return out

# call: f(0)
def f(n):
    try:
        return 1 // n
    except Exception as e:
        return type(e).__name__, type(e) is ZeroDivisionError, e.__class__.__name__, e.args

# call: f(5)
# outside: the attribute int.real
def f(n):
    return n.real

# call: f(5)
def f(n):
    return f.__name__, int.__name__

# call: f(5)
def f(n):
    try:
        return f.code
    except AttributeError as e:
        return str(e)

# call: f(5)
def f(n):
    r = range(2, 10, 3)
    return r.start, r.stop, r.step

# call: f(5)
def f(n):
    try:
        raise ValueError(x=1)
    except TypeError as e:
        return str(e)

# call: f(5)
def f(n):
    try:
        raise UnicodeDecodeError('a')
    except TypeError:
        return 'type'

# call: f(5)
def f(n):
    try:
        raise UnicodeDecodeError
    except TypeError:
        return 'type'

# call: f(5)
def f(n):
    try:
        1 // 0
    except int:
        return 'int'

# call: f(5)
# outside: a name after ** that is not text, or occurs twice
def f(n):
    def g(**k):
        return k
    try:
        return g(**{'a': 1}, **{'a': 2})
    except TypeError:
        return 'twice'

# call: f(5)
# outside: a name after ** that is not text, or occurs twice
def f(n):
    def g(**k):
        return k
    try:
        return g(**{1: 2})
    except TypeError as e:
        return str(e)

# call: f(5)
def f(n):
    out = []
    def g(*a):
        return a
    for h in (lambda: [*n], lambda: [*1.5], lambda: {*n}, lambda: [*g]):
        try:
            out.append(h())
        except TypeError as e:
            out.append(str(e))
    return out

# call: f(5)
# outside: a value of the kind int after *
def f(n):
    def g(*a):
        return a
    try:
        return g(*n)
    except TypeError as e:
        return str(e)

# call: f(5)
def f(n):
    out = []
    g = lambda: 1
    h = (v for v in 'a')
    for t in (lambda: g + 1, lambda: -g, lambda: g < g, lambda: g[0], lambda: len(h), lambda: h[0], lambda: 1 in g, lambda: [v for v in g], lambda: sum(g), lambda: h + h, lambda: len(map(g, h)), lambda: +'a', lambda: -'a', lambda: ~'a', lambda: abs('a'), lambda: ~1.5):
        try:
            out.append(t())
        except TypeError as e:
            out.append(str(e))
    return out

# call: f(5)
def f(n):
    try:
        a, b = f
    except TypeError as e:
        return str(e)

# call: f(5)
def f(n):
    def g():
        i = 0
        while True:
            seen.append(i)
            yield i
            i += 1
    seen = []
    try:
        a, b = g()
    except ValueError as e:
        return str(e), seen

# call: f(5)
# outside: type | type
def f(n):
    return isinstance(n, int | str)

# call: f(5)
def f(n):
    x = 10
    def g():
        return x
    del x
    x = 3
    return g()

# call: f(5)
def f(n):
    if n > 9:
        x = 1
    def g():
        return x
    try:
        return x
    except UnboundLocalError as e:
        return str(e), type(e) is UnboundLocalError

# call: f(5)
def f(n):
    return ~5 + 1, ~5, - -5, +5 + 1, not 1 + 2, -(3 + 4) * 2, 2 ** -1 if n > 9 else 2 ** 3 ** 2, ~-1, -True

# call: f(5)
def f(n):
    i = 0
    while 2 - 1:
        i += 1
        if i > 3:
            break
    while not 0:
        i += 1
        if i > 6: break
    while 1 - 1:
        i = 'never'
    return i

# call: f(5)
def f(n):
    a = [
        1 + 1,
        2,
        3 *
        4,
    ]
    t = (
        1,
        2 + 3,
    )
    for x in [
        1 + 1,
        2,
    ]:
        n += x
    d = {
        'a': 1 + 1,
        'b': n
        + 1,
    }
    return a, t, d, n in (
        1 + 1,
        4 * 4,
    )

# call: f(5)
def f(n):
    out = []
    for g in (lambda: 'a b'.split(1), lambda: ' '.join(5), lambda: 'a'.center('x'), lambda: 'a'.zfill('3'), lambda: 'ab'.strip(1), lambda: 'ab'.find(None), lambda: 'ab'.replace('a', 1), lambda: 'a'.center(5, 'xy'), lambda: ''.join(['a', 1]), lambda: 'a'.partition(1), lambda: 'a'.partition(''), lambda: 'a'.ljust(None), lambda: 'a'.removeprefix(1), lambda: 'a'.split('a', 'b')):
        try:
            out.append(g())
        except (TypeError, ValueError) as e:
            out.append(str(e))
    return out

# call: f('a,b c,d')
def f(s):
    return s.split(sep=','), s.split(',', maxsplit=1), s.split(maxsplit=1), s.split(',', 0), s.split(None, 0), s.rsplit(None, 0), s.split(',', -1), s.splitlines(keepends=True), s.expandtabs(tabsize=2), s.ljust(-1), s.startswith(()), s.count(',', None, 3), s.find('b', None), s.find('b', -100, 100), s.find('', 99), s.count('', 3), s.strip(None), s.rfind('', 2), s.find('', 7), s.startswith('', 8), s.endswith('', 8)

# call: f(5)
def f(n):
    t = (1, n)
    fs = frozenset([1])
    return tuple(t) is t, frozenset(fs) is fs, list(t) is t, t[:] is t

# call: f(5)
def f(n):
    s = {k * 37 % 101 for k in range(40)}
    for k in range(90):
        s.discard(k)
    d = {k * 33 % 64: k for k in range(30)}
    return list(s), list(set(s)), list(frozenset(s)), list(set(d)), list({64, 0, 32, 8, 16, 40}), list(frozenset([64, 0, 32, 8, 16])), list(s | set(d)), list({*s, *d}), list(set(d.keys())), s.copy().pop()

# call: f(500)
# outside: the text of a value nested more than 100 deep
def f(n):
    a = []
    for _ in range(n * 4):
        a = [a]
    try:
        return len(str(a))
    except RecursionError:
        return 'deep'

# call: f(400)
def f(n):
    def g(k):
        if k:
            for v in g(k - 1):
                yield v + 1
        else:
            yield 0
    return list(g(n))

# call: f(3000)
# outside: too deep a recursion
def f(n):
    def g(k):
        for v in g(k + 1):
            yield v
    try:
        return next(g(0))
    except RecursionError:
        return 'deep'

# call: f(3)
# outside: a yield inside try
def f(n):
    out = []
    def g():
        try:
            yield 1
            yield 2
        finally:
            out.append('closed')
    for v in g():
        break
    out.append('after')
    return out

# call: f(3)
# outside: a yield inside try
def f(n):
    def g():
        try:
            1 // 0
        except ZeroDivisionError:
            yield 1
            yield 2
    a = g()
    next(a)
    try:
        raise
    except RuntimeError as e:
        return str(e)

# call: f(5)
def f(n):
    return 500000000 in range(1000000000), 7 in range(0, 100, 7), -3 in range(5, -9, -4), 2.0 in range(4), 'a' in range(3), True in range(2), n not in range(0)

# call: f(5)
# outside: the format b
def f(n):
    return '{:b}'.format(n), '{:.2f}'.format(1.5)

# call: f(5)
def f(n):
    return '{0[0]}{1}'.format([n], 'a')

# call: f(5)
# outside: the field '0.real' of str.format
def f(n):
    return '{0.real}'.format(n)

# call: f(5)
# outside: a ValueError as text, or one of its items
def f(n):
    return str(ValueError(int)), str(ValueError([1, 'a']))

# call: f(9007199254740993)
# outside: a float that is not exact
def f(n):
    return n / 1

# call: f(5)
def f(n):
    return 10 ** 17 + 1 > 1e17, 1e17 == 10 ** 17, 10 ** 17 + 1 == 1e17, 0.5 < 1, 1 > 0.5, 3 == 3.0

# call: f(5)
# outside: a value of the kind builtin_function_or_method in a comparison
def f(n):
    a = [1]
    return a.append == a.append, a.append is a.append

# call: f(5)
# outside: a literal of the kind bytes
def f(n):
    return b'a' == b'a', len(b'ab')

# call: f(5)
def f(n):
    out = []
    for g in (lambda: dict([1]), lambda: dict(['abc']), lambda: dict(5), lambda: {}.update([1]), lambda: set(5), lambda: list(5), lambda: sorted(5), lambda: int([]), lambda: int(None), lambda: sum(5), lambda: zip(5), lambda: map(5, [1]), lambda: enumerate(5), lambda: [].extend(5), lambda: any(5), lambda: min(5), lambda: tuple(5), lambda: reversed(5), lambda: range('a'), lambda: ord(5), lambda: chr('a'), lambda: chr(-1), lambda: len(5)):
        try:
            out.append(g() and 'fine')
        except (TypeError, ValueError) as e:
            out.append(str(e))
    return out

# call: f(5)
def f(n):
    try:
        raise ValueError('a') from 5
    except TypeError as e:
        return str(e)

# call: f('abc')
def f(s):
    return [c for c in s if c in 'b' 'c'], s.index('c', -1), (s * 2).index('a', 1), 'a' < s < 'b', s[True], s[-True]

# call: f([5, 6, 7, 5])
def f(a):
    return a.index(5, 1), a.index(7, -2), (1, 2, 1).index(1, 1), a.index(6, 0, 3), a.index(6, -99, 99)

# call: f(5)
def f(n):
    x = [0]
    def g(v):
        x[0] += v
        return x[0]
    x[g(1) - 1] = g(2)
    d = {g(1): g(1), g(1): g(1)}
    return x, d, [g(1), g(1)], g(1) + g(1) * g(1), (g(1), *[g(1)], g(1))

# call: f(5)
def f(n):
    a = [1, 2, 3]
    a[0], a[a[0]] = a[1], 9
    i = 1
    a[i] += (i := 2)
    return a, i

# call: f(5)
def f(n):
    class_ = type(n)
    return class_ is int, class_('12') + 1, [t('3') for t in (int, str, list)], list(map(str, range(3))), type('a')(5), (str if n else int)(7)

# call: f(5)
def f(n):
    def g(a, b):
        return a - b
    return g(b=1, a=2), g(*[5], **{'b': 3}), (lambda *, k=n: k)(), (lambda a, *b, c=3, **d: (a, b, c, d))(1, 2, c=4, e=5)

# call: f(5)
def f(n):
    it = iter([1, 2, 3, 4])
    out = [(a, next(it, None)) for a in it]
    jt = iter(range(3))
    return out, 1 in jt, list(jt), list(zip(range(2), jt)), [next(iter(range(5, 1, -2)))]

# call: f(5)
def f(n):
    z = zip([1, 2, 3], iter('ab'))
    rest = iter([10, 20, 30])
    y = list(zip(rest, [1]))
    return list(z), list(rest), y, list(zip([1], rest)), list(enumerate(iter('ab')))

# call: f(5)
def f(n):
    print('a', 1, None, 1.5, [1, 'b'], {'k': (1,)}, True, sep=', ')
    for i in range(3):
        print(i, end=' ' if i < 2 else '\n')
    try:
        print('x' + 1)
    except TypeError:
        print('caught')
    return print('end')

# call: f(5)
def f(n):
    return [print(i) for i in range(2)], print() is None

# call: f([1, 2, 3])
# outside: a comprehension of several lines
def f(a):
    b = [
        x * 2
        for x in a
        if x != 2
    ]
    c = {
        k: [
            y
            for y in range(k)
        ]
        for k in b
    }
    return (
        b,
        c,
        [x for x in a
         if x > 1],
    )

# call: f('ab')
def f(s):
    out = []
    out.append(((s and s[::-1].replace('a', 'c') or 3) if [x for x in s] else s, 'x'.center(3)))
    out.append((((s and 'y') if [s] else s), 'x'.center(3)))
    for x in [c for c in s]: out.append(x); out.append((s and 'z' if [c for c in x] else x, 1))
    return out, [(s and x if [y for y in x] else 0, 1) for x in s]

# call: f(2.5)
# outside: divmod of numbers that are not whole
def f(x):
    return divmod(x, 2)

# call: f(5)
# outside: the builtin float
def f(n):
    return float(n)

# call: f('abc')
# outside: the builtin slice
def f(s):
    return s[slice(1, 2)]

# call: f('abc')
# outside: the builtin hash
def f(s):
    return hash(s) == hash(s)

# call: f(12345)
# outside: the format ,
def f(n):
    return f'{n:,}'

# call: f(5)
# outside: max without arguments
def f(n):
    try:
        return max()
    except TypeError as e:
        return str(e)

# call: f(5)
# outside: a power with a negative exponent
def f(n):
    return 2 ** -n

# call: f([4, 5])
def f(a):
    def g(a):
        for v in a:
            yield v
    h = (
        v
        for v in g(a)
        if v
    )
    return list(
        h
    )

# call: f(5)
def f(n):
    def g():
        x = yield from h()
        out.append(x)
        y = yield from (1, 2)
        return y
    def h():
        got = yield 'a'
        out.append(got)
        return 'from h'
    out = []
    it = g()
    out.append(next(it))
    out.append(it.send(n))
    try:
        while True:
            out.append(next(it))
    except StopIteration as e:
        out.append(e.value)
    return out

# call: f(5)
def f(n):
    it = (v for v in range(2))
    try:
        it.send(1)
    except TypeError as e:
        first = str(e)
    def g():
        yield next(me)
    me = g()
    try:
        next(me)
    except ValueError as e:
        return first, str(e)

# call: f(5)
def f(n):
    def g():
        return (yield)
    try:
        it = g()
        next(it)
        it.send(7)
    except StopIteration as e:
        return e.value, e.args

# call: f([1, 2, 3])
# outside: the instruction MATCH_SEQUENCE
def f(a):
    total = 0
    match a:
        case [1, *rest]:
            total = sum(rest)
    return total

# call: f(3)
def f(n):
    match n:
        case 1:
            return 'one'
        case 1 | 2 | 3:
            return 'some'
        case _:
            return 'many'

# call: f(5)
# outside: the instruction BEFORE_WITH
def f(n):
    with n as m:
        return m

# call: f(5)
# outside: an async function
def f(n):
    async def g():
        return n
    c = g()
    return c.close(), c == n

# call: f('\u00e9a')
# outside: a character that is not ASCII
def f(s):
    return s.upper()

# call: f(5)
def f(n):
    def g():
        raise LookupError('a', n)
    try:
        list(map(lambda v: g(), [1]))
    except (KeyError, LookupError) as e:
        first, second = e.args
    x = [*map(lambda v: v * second, a := [1, 2])]
    return first, x, a, [*filter(None, x)], {*zip(a, x)}, [*enumerate(a, 2)]

# call: f(900)
# outside: too deep a recursion
def f(n):
    return n if n == 0 else 1 + f(n - 1)

# call: f(5)
def f(n):
    return list(map(next, [iter([1]), iter([]), iter([2])])), [*map(int, '12')], list(zip(*[iter('abcdef')] * 2))
