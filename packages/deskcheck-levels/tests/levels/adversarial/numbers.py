# call: f(-999999999999, 1000003)
def f(a, b):
    q, r = divmod(a, b)
    return q, r, q * b + r == a, -a // b, a // -b, -a % -b, a % -b

# call: f(123456789012, 987654321098)
def f(a, b):
    product = a * b
    return product, product // a, product // b, product % (a + 1), (product - 1) // a, (product + 1) % b

# call: f(9999999999999999999999999999)
def f(a):
    return a + 1, a * a, -a - 1, a - 10 ** 28, a // 9, a % 7, (a + 1) // 10 ** 14

# call: f(0, -0, True)
def f(a, b, c):
    return a == b, a is b, c + c, c * 3, -c, +c, ~c, c - 2, c // 1, c % 2, c < 2, c == 1, (not c) + 1

# call: f(5)
def f(n):
    return 1 < n < 10 > 3 != n, 1 < n > 7 < 2, n == 5 == 5.0, 3 <= n <= 5 <= 4, n > 4 > 3 > 2 > 1 > 0

# call: f(3)
def f(n):
    seen = []
    def say(v):
        seen.append(v)
        return v
    r = say(1) < say(n) < say(2) < say(9)
    s = say(n) > say(2) and say(0) or say(8)
    return r, s, seen

# call: f(0)
def f(n):
    out = []
    for g in (lambda: 1 // n, lambda: 1 % n, lambda: divmod(1, n), lambda: 1 / n, lambda: 1.0 / n, lambda: 0 ** n):
        try:
            out.append(g())
        except ZeroDivisionError as e:
            out.append(str(e))
    return out

# call: f(2)
def f(n):
    return n ** 0, n ** 1, n ** 40, (-n) ** 3, (-n) ** 4, 0 ** 0, 1 ** 999, (-1) ** 7, 10 ** 20

# call: f(7, 13)
def f(a, b):
    return pow(a, 20, b), pow(a, 0, b), pow(a, b), pow(-a, 3, b), pow(a, 3, -b)

# call: f(-37, 19)
def f(a, b):
    return a & b, a | b, a ^ b, ~a, ~~b, a << 4, a >> 2, a >> 40, b >> 5, (a & 255) >> 3

# call: f(1)
def f(n):
    out = []
    for k in (0, 1, 31, 64, -1):
        try:
            out.append(n << k)
        except ValueError as e:
            out.append(str(e))
    return out

# call: f()
def f():
    x = 170141183460469231731687303715884105727
    return x & (x >> 1), x ^ (x << 1), x | 1, ~x, x % 1000007, x // 3, -x // 3, -x % 3

# call: f(1.5, -2.25)
def f(a, b):
    return a + b, a - b, a * b, a < b, a == 1.5, -b, abs(b), int(a), int(b), a // 0.5, b % 1, a // b, a % b

# call: f(0.5)
def f(x):
    return round(x), round(1.5), round(2.5), round(-0.5 - 1), round(-1.5), round(-2.5), int(-2.75), bool(x)

# call: f(10)
def f(n):
    return n / 2, n / 4, n / 8 == 1.25, n / 5, 7 / 2 * 2 == 7, [n / 2 ** k for k in range(5)]

# call: f(12)
def f(n):
    total = 0
    while n:
        n, d = divmod(n, 2)
        total = total * 10 + d
    return total

# call: f('  42 ')
def f(s):
    out = [int(s), int('-7'), int('+0'), int('1_000'), int('000')]
    for bad in ('', ' ', '4 2', '--1', '1__0', '0x10', '1.0', 'a'):
        try:
            out.append(int(bad))
        except ValueError as e:
            out.append(str(e))
    return out

# call: f([3, 1, 2])
def f(a):
    return max(a), min(a), max(a, key=lambda v: -v), min(3, 1, 2), max([], default=0), sum(a), sum(a, 10), max('b', 'abc'), min((1, 2), (1, 1))

# call: f([])
def f(a):
    out = []
    for g in (max, min):
        try:
            g(a)
        except ValueError as e:
            out.append(type(e) is ValueError)
    return out, sum(a), any(a), all(a)

# call: f(True, False)
def f(a, b):
    return a & b, a | b, a ^ b, a ^ 1, a & 3, True | 6, not a | b, a > b, sum([a, a, b]), int(a), str(b), [10, 20][a]

# call: f(100)
def f(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a, a % 1000000007, str(a)[::-1], len(str(a))

# call: f(30)
def f(n):
    r = 1
    for k in range(2, n + 1):
        r *= k
    zeros = 0
    while r % 10 == 0:
        r //= 10
        zeros += 1
    return r, zeros

# call: f(600851475143)
def f(n):
    d, out = 2, []
    while d * d <= n:
        while n % d == 0:
            n //= d
            out.append(d)
        d += 1
    return out + [n]

# call: f(999999999989)
def f(n):
    x = n
    y = (x + 1) // 2
    while y < x:
        x, y = y, (y + n // y) // 2
    return x, x * x <= n < (x + 1) * (x + 1)

# call: f(1, 1.0, True)
def f(a, b, c):
    d = {a: 'int'}
    d[b] = 'float'
    d[c] = 'bool'
    return d, a == b == c, len({a, b, c}), [a, b, c].count(1), [a, b, c].index(True)

# call: f(-5)
def f(n):
    n += 3; n -= -4; n *= -6; n //= 5; n %= 4; n **= 3; n <<= 2; n >>= 1; n |= 5; n &= 13; n ^= 6
    return n

# call: f(-1)
def f(n):
    return n // 2, n % 2, n >> 1, n // 10, n % 10, divmod(n, 10), -(n // 2), abs(n) // 2, n * -1, n - -1, - -n, --n

# call: f(255)
def f(n):
    digits = '0123456789abcdef'
    out = ''
    while n > 0:
        out = digits[n % 16] + out
        n //= 16
    return out or '0'

# call: f(48, 18)
def f(a, b):
    x0, x1, y0, y1 = 1, 0, 0, 1
    while b:
        q, a, b = a // b, b, a % b
        x0, x1 = x1, x0 - q * x1
        y0, y1 = y1, y0 - q * y1
    return a, x0, y0

# call: f(-7.5)
def f(x):
    out = [x // 2, x % 2, -x // 2, x * 2, x + 7.5 == 0, x <= -7.5, int(x), round(x), x / 2]
    return out

# call: f(3)
def f(n):
    return 1_000_000 + n, 0b101, 0o17, 0xff, 1e3, 2.5e-1, 0xff & n, -0x10 // n

# call: f('3', 4)
def f(a, b):
    out = []
    for g in (lambda: a + b, lambda: b + a, lambda: a - a, lambda: a * a, lambda: a < b, lambda: -a, lambda: [1] + (2,)):
        try:
            out.append(g())
        except TypeError:
            out.append('TypeError')
    return out, a * b, b * a

# call: f(None)
def f(x):
    try:
        x += 1
    except TypeError as e:
        x = str(e)
    return x, None == 0, None is None, bool(None), not None

# call: f(10 ** 15)
def f(n):
    count = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
        if count > 400:
            break
    return count, n

# call: f(1000000007, 3)
def f(p, g):
    r, e, base = 1, p - 2, g
    while e:
        if e & 1:
            r = r * base % p
        base = base * base % p
        e >>= 1
    return r, r * g % p

# call: f(17)
def f(n):
    return n, isinstance(n, int), isinstance(True, int), isinstance(n, (str, list)), isinstance(1.0, int), type(n) is int, type(True) is int, type(n) == type(3)
