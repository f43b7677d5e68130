# call: f(5)
def f(n):
    for i in range(n):
        for j in range(n):
            if j == i:
                continue
            if j > 3:
                break
            if i + j == 5:
                return i, j
        else:
            n -= 1
    else:
        return 'never'
    return 'out'

# call: f(3)
def f(n):
    i = 0
    while i < n:
        i += 1
        if i == 2:
            continue
    else:
        i = -i
    while False:
        i = 100
    else:
        i -= 1
    while True:
        i += 1
        if i > 0: break
    return i

# call: f(4)
def f(n):
    for i in range(n):
        i += 10
        n = 0
    for i in []:
        pass
    for n in 'ab': pass
    return i, n

# call: f([1, 2, 3])
def f(a):
    for a[0] in range(5):
        pass
    for i, a[1] in enumerate('xy'):
        pass
    for (x, y), z in [((1, 2), 3), ((4, 5), 6)]:
        a.append(x + y + z)
    return a, i

# call: f(0, [], 'x', None)
def f(a, b, c, d):
    return a or b or c, c and a and b, d or a, not (a or c), (a and b) is a, a if b else c if d else 'z', [] or {} or 0 or '', 1 and 2 and 3, (a or b) == []

# call: f(15)
def f(n):
    out = []
    for i in range(1, n + 1):
        out.append('FizzBuzz' if i % 15 == 0 else 'Fizz' if i % 3 == 0 else 'Buzz' if i % 5 == 0 else i)
    return out

# call: f(10)
def f(n):
    out = []
    while (n := n - 3) > -5:
        out.append(n)
        if (half := n // 2) < 0:
            break
    return out, n, half, [y for x in range(5) if (y := x * x) % 2]

# call: f(2)
def f(n):
    x = 1 if n > 1 else 2; y = 3 if n > 5 else 4
    if n == 1: r = 'a'
    elif n == 2: r = 'b'
    else: r = 'c'
    if n: pass
    if not n: r = 'd'
    if n and n - 2 or n - 1: r += '!'
    return x, y, r

# call: f(7)
def f(n):
    assert n > 0
    assert n > 1, 'no'
    assert (n > 8, 'a tuple is true') if n > 8 else True
    assert n != 7, f'n is {n}'
    return n

# call: f(3)
def f(n):
    del n
    try:
        return n
    except UnboundLocalError as e:
        return str(e)

# call: f(3)
def f(n):
    try:
        print(later)
    except NameError as e:
        n = str(e)
    for later in range(2):
        pass
    return n, later

# call: f(3)
def f(n):
    return undefined_name + n

# call: f(3)
x = 10
def f(n):
    global x, y
    x += n
    y = x * 2
    return x, y, g()
def g():
    return x + y

# call: f(3)
A = [1]
B = A
C = {k: k * k for k in range(3)}
def f(n, a=A, b=[]):
    a.append(n)
    b.append(n)
    return A, B, b, a is B, C
f(1)
f(2)

# call: f(6)
def f(n):
    out = []
    for i in range(n):
        if i % 2:
            if i % 3: out.append(i)
            else: out.append(-i)
        elif i > 2 and not i == 4 or i == 0:
            out.append('z')
    return out

# call: f(50)
def f(n):
    sieve = [True] * n
    sieve[:2] = [False, False]
    for i in range(2, n):
        if sieve[i]:
            for j in range(i * i, n, i):
                sieve[j] = False
    return [i for i, p in enumerate(sieve) if p]

# call: f([5, 2, 9, 1, 5, 6])
def f(a):
    for i in range(1, len(a)):
        key, j = a[i], i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a

# call: f([5, 2, 9, 1, 5, 6, 0])
def f(a):
    n = len(a)
    while True:
        swapped = False
        for i in range(1, n):
            if a[i - 1] > a[i]:
                a[i - 1], a[i] = a[i], a[i - 1]
                swapped = True
        n -= 1
        if not swapped:
            return a, n

# call: f(4)
def f(n):
    board, found = [], []
    def ok(r, c):
        return all(c != q and abs(c - q) != r - p for p, q in enumerate(board))
    def place(r):
        if r == n:
            found.append(board[:])
            return
        for c in range(n):
            if ok(r, c):
                board.append(c)
                place(r + 1)
                board.pop()
    place(0)
    return found

# call: f(3)
def f(n):
    moves = []
    def go(k, a, b, c):
        if k:
            go(k - 1, a, c, b)
            moves.append(a + c)
            go(k - 1, b, a, c)
    go(n, 'A', 'B', 'C')
    return moves, len(moves) == 2 ** n - 1

# call: f([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
def f(g):
    def fill(r, c):
        if not (0 <= r < 3 and 0 <= c < 3) or g[r][c] != 0:
            return 0
        g[r][c] = 2
        return 1 + fill(r + 1, c) + fill(r - 1, c) + fill(r, c + 1) + fill(r, c - 1)
    return fill(0, 0), g

# call: f(['push 3', 'push 4', 'add', 'dup', 'mul', 'jz 7', 'push 1', 'neg'])
def f(code):
    stack, at = [], 0
    while at < len(code):
        op, *arg = code[at].split()
        at += 1
        if op == 'push':
            stack.append(int(arg[0]))
        elif op == 'add':
            stack.append(stack.pop() + stack.pop())
        elif op == 'mul':
            stack.append(stack.pop() * stack.pop())
        elif op == 'dup':
            stack.append(stack[-1])
        elif op == 'neg':
            stack[-1] = -stack[-1]
        elif op == 'jz' and not stack[-1]:
            at = int(arg[0])
    return stack

# call: f(20)
def f(n):
    cells = [0] * n
    cells[n // 2] = 1
    out = []
    for _ in range(4):
        out.append(''.join('.#'[c] for c in cells))
        cells = [(90 >> (4 * cells[i - 1] + 2 * cells[i] + cells[(i + 1) % n])) & 1 for i in range(n)]
    return out

# call: f([1, 5, 10], 12)
def f(coins, total):
    ways = [1] + [0] * total
    for c in coins:
        for t in range(c, total + 1):
            ways[t] += ways[t - c]
    return ways

# call: f((1, 2, 3))
def f(t):
    out = []
    for x in t:
        t = (x,) + t
        out += [x, len(t)]
    return t, out

# call: f(3)
def f(n):
    x = (
        n
        + 1
        * 2
    )
    y = [
        n,
        x,
    ]
    return (
        x,
        y
    )

# call: f(5)
def f(n):
    total = 0
    for i in range(n): total += i; total -= 1
    while total > 3: total -= 2
    return total if \
        total else -1

# call: f(2)
def f(n):
    if n > 1:
        if n > 5:
            r = 1
    else:
        r = 2
    try:
        return r
    except UnboundLocalError:
        return 'unbound'

# call: f(3)
def f(n: int, *, k: int = 2) -> int:
    """A docstring."""
    total: int = n
    unset: int
    ...
    'text alone'
    total * 2
    return total - k

# call: f()
def f():
    pass

# call: f(0)
def f(n):
    while n < 1000000:
        n += 1
        if n == 300:
            return n
