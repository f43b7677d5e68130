# call: f('hello world')
def f(s):
    return s[::-1], s[-1:-6:-1], s[::3], s[20:], s[-100:3], s[5:2], s[5:2:-1], s[:-1:2], s[-3::-2], s[0:0], s[:]

# call: f('abc')
def f(s):
    out = []
    for i in (-4, -3, 0, 2, 3):
        try:
            out.append(s[i])
        except IndexError as e:
            out.append(str(e))
    return out

# call: f('a,b,,c,')
def f(s):
    return s.split(','), s.split(',', 2), s.rsplit(',', 2), s.partition(','), s.rpartition(','), ','.join(s.split(',')) == s, s.split(',,'), s.strip(',')

# call: f('  a  b\tc\n\nd  ')
def f(s):
    return s.split(), s.split(' '), s.split(None, 1), s.rsplit(None, 2), s.splitlines(), s.strip(), s.lstrip(), s.rstrip(), s.expandtabs(4)

# call: f('')
def f(s):
    return s.split(), s.split(','), s.partition('x'), s.upper(), s.isdigit(), s.isalpha(), s.isupper(), s.splitlines(), s.replace('', '-'), s.find(''), s.count(''), s.startswith(''), s.title(), s.center(3, '*'), s.zfill(2), s.join(['a', 'b'])

# call: f('banana')
def f(s):
    return s.count('ana'), s.find('ana'), s.rfind('ana'), s.find('ana', 2), s.find('ana', -3), s.find('a', 2, 3), s.replace('ana', 'X'), s.replace('a', 'aa', 2), s.index('n', 3), s.count('a', 2), s.count('a', -4, -1), s.count('')

# call: f('banana')
def f(s):
    out = []
    for sub in ('n', 'z', '', 'banana', 'bananas'):
        try:
            out.append((s.index(sub), s.rindex(sub)))
        except ValueError as e:
            out.append(str(e))
    return out

# call: f('abc', 'abd')
def f(a, b):
    return a < b, a <= a, a > b, a == 'abc', a != b, 'ab' < a, 'Z' < 'a', '' < 'a', 'a' < 'aa', '10' < '9', a is a, 'b' in a, '' in a, 'ac' in a, 'abc' in a, a not in b

# call: f("it's", 'say "hi"', 'both \' and "', 'tab\tnl\n\\')
def f(a, b, c, d):
    return repr(a), repr(b), repr(c), repr(d), f'{a!r}', str(d), repr(repr(a)), [a, b], len(repr(d))

# call: f('-42')
def f(s):
    return s.zfill(6), '+7'.zfill(4), s.zfill(2), '-'.zfill(3), s.rjust(6, '*'), s.ljust(6, '.') + '|', s.center(6), s.center(7), 'ab'.center(5, '-'), 'abc'.center(6, '-')

# call: f('hELLO wORLD it\'s 3rd')
def f(s):
    return s.title(), s.capitalize(), s.swapcase(), s.upper(), s.lower(), s.istitle(), s.title().istitle(), s.casefold()

# call: f(['a1', '12', 'ab', ' ', '_x', '1a', 'A', 'aB', '', '\t', '1.5', '-1'])
def f(a):
    return [(s.isalnum(), s.isalpha(), s.isdigit(), s.isspace(), s.isidentifier(), s.isupper(), s.islower(), s.isdecimal(), s.isprintable(), s.isascii()) for s in a]

# call: f(7, 'x', 2.5, [1], None)
def f(n, s, x, a, z):
    return f'{n}{s}{x}{a}{z}', f'{n:3}|{n:<3}|{n:^3}|{s:>3}|{s:^4}|', f'{n:03}', f'{n!r}{s!r:>5}', f'{n + 1}{s * 2}{len(a)}', f'{{}}{n}', f'{n=}'

# call: f(-7)
def f(n):
    return f'{n:5}', f'{n:<5}|', f'{n:05}', f'{n:+}', f'{-n:+d}', f'{n:d}', f'{n:>+4}'

# call: f('a{}c')
def f(s):
    return s.format(1), '{} {}'.format('x', [1]), '{1}{0}'.format(1, 2), '{a}{b!r}'.format(a=1, b='q'), '{:>4}|'.format(3), '{{}}'.format()

# call: f('xyxxy')
def f(s):
    return s.strip('x'), s.strip('xy'), s.lstrip('x'), s.rstrip('y'), s.removeprefix('xy'), s.removesuffix('xy'), s.removeprefix('y'), s.removeprefix(''), s.startswith(('a', 'x')), s.endswith('xy', 2), s.startswith('y', 1, 2), s.endswith('')

# call: f('Hello, World')
def f(s):
    out = ''
    for c in s:
        if c.isalpha():
            base = ord('A') if c.isupper() else ord('a')
            out += chr((ord(c) - base + 13) % 26 + base)
        else:
            out += c
    return out

# call: f('aaabbbccd')
def f(s):
    out, i = [], 0
    while i < len(s):
        j = i
        while j < len(s) and s[j] == s[i]:
            j += 1
        out.append(f'{s[i]}{j - i}')
        i = j
    return ''.join(out)

# call: f('kitten', 'sitting')
def f(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]

# call: f('A man, a plan')
def f(s):
    t = [c.lower() for c in s if c.isalnum()]
    return t == t[::-1], ''.join(sorted(set(t))), ''.join(reversed(t)), sorted(s, key=str.lower)

# call: f('abc')
def f(s):
    out = []
    for g in (lambda: s + 1, lambda: s.split(''), lambda: s.center(9, 'ab'), lambda: ','.join([1]), lambda: ord('ab'), lambda: s['x'], lambda: s.nothing):
        try:
            out.append(g())
        except (TypeError, ValueError, AttributeError) as e:
            out.append(type(e).__name__)
    return out

# call: f('abc')
def f(s):
    t = s
    s += 'd'
    u = s * 0, s * -1, 2 * t
    try:
        t[0] = 'z'
    except TypeError as e:
        v = str(e)
    return s, t, u, v

# call: f(65)
def f(n):
    return chr(n), ord('z') - ord('a'), ''.join(chr(n + k) for k in range(5)), ord('\n'), chr(127), repr(chr(0)), repr('\x1b')

# call: f('one two three two one')
def f(s):
    count = {}
    for w in s.split():
        count[w] = count.get(w, 0) + 1
    return sorted(count.items(), key=lambda kv: (-kv[1], kv[0])), max(count, key=count.get), list(count)

# call: f('a\r\nb\nc\r\n\r')
def f(s):
    return s.splitlines(), s.splitlines(True), s.split('\n'), s.strip().split('\r\n'), len(s)

# call: f('abcabc')
def f(s):
    return s.translate({97: 'x', 98: None}) if False else s, s.replace('bc', ''), s.replace('b', 'b'), s.replace('abc', 'abcabc'), s.replace('x', 'y'), s.replace('a', '', 0), s.replace('a', '1', -1)

# call: f('3 + 4 * 2')
def f(s):
    total, op = 0, '+'
    for t in s.split():
        if t in '+-*':
            op = t
        elif op == '+':
            total += int(t)
        elif op == '*':
            total *= int(t)
    return total

# call: f('abcdef', 2)
def f(s, k):
    return s[k:] + s[:k], s[-k:] + s[:-k], [s[i:i + k] for i in range(0, len(s), k)], [s[max(0, i - 1):i + 2] for i in range(len(s))]

# call: f(True, 1.5, -0.25, 1e10)
def f(a, b, c, d):
    return str(a), str(b), str(c), str(d), repr(d), f'{b}', str(10 ** 10), str(-0), str((1,)), str([]), str({}), str(()), str({1}), str(None), str(range(3)), str(b == 1.5)

# call: f('The quick')
def f(s):
    print(s, len(s), sep='|', end='!\n')
    print()
    print(*s[:3])
    print(s.upper(), [s], (s,), {s: None}, end='')
    print('', sep='x')
    return None

# call: f('word word')
def f(s):
    a, b = s.split()
    return a == b, a is not None, a in s, s.find(b, 1)

# call: f(',')
def f(sep):
    return sep.join('abc'), sep.join([]), sep.join(['x']), sep.join(str(k) for k in range(4)), sep.join({'k': 1}), ''.join(['a', '', 'b']), sep.join(('p', 'q'))

# call: f('x=1;y=2;;z')
def f(s):
    out = {}
    for part in s.split(';'):
        try:
            k, v = part.split('=')
            out[k] = int(v)
        except ValueError:
            out[part or None] = part.partition('=')
    return out
