import sys
def semis(n):
    a = 1; b = [a] * n; c = 0
    for x in b: c += x; a = c
    if c: a += 1; b.append(a)
    while a > 2: a -= 1; c -= 1
    return a, b, c

def tags(n):
    text = """[ANSWER]1[/ANSWER]
  3 | not a line
<answer>2</answer>
```python
x = 1
```
Now yours.

Program:
Call: f(1)
How it is run: g()
"""
    lines = text.splitlines()
    size = len(lines) * n
    return [size, lines[n]]

def größe(näme, ß=2):
    länge = len(näme)
    for ñ in näme:
        if ñ == "ä":
            länge += ß
    ℕ = länge
    return länge, ℕ

def tabs(n):
	total = 0
	for i in range(n):
		if i % 2:
			total += i
	return total

def longline(n):
    x = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, n]
    y = x[n]
    return y, len(x)

def seps(n):
    a = "x y\x85z"
    b = a.split()
    for c in b:
        n += len(c)
    return n, b

def numbers(n):
    doc = '''
1 | x = 1
2 | y = 2
 12 |
'''
    k = doc.count("|")
    if k > n:
        k = n
    return k

def nested(n):
    def inner(
        a,
        b=(
            n,
            n + 1,
        ),
    ):
        return a + sum(
            b
        )
    class Local:
        size = (
            n *
            2
        )
        def get(self):
            return self.size + inner(
                1,
            )
    return Local().get() + inner(n)

def chained(n):
    x = (
        "a,b,c"
        .replace(
            ",",
            ";" * n,
        )
        .split(";")
    )
    if not (
        len(x) > 3
        and x[0] == "a"
        or n == 0
    ): return x
    return [
        y for y in x
        if y
    ]

def generators(n):
    def numbers():
        for i in range(n):
            got = yield (
                i *
                2
            )
            if got:
                yield got
    it = numbers()
    total = next(it, 0)
    for x in it:
        total += x
        if x > 2:
            total += it.send(
                x
            )
    return total

def closing(n):
    class Managed:
        def __enter__(self):
            return self
        def __exit__(self, *why):
            return why[0] is ValueError
    for i in range(n):
        with Managed() as m, \
             Managed():
            if i == 1:
                continue
            if i == 2:
                raise ValueError(
                    i
                )
            n += 1
    return n

def deleted(n):
    x = [n]; y = x
    del x
    try:
        z = y[0] / n
    except ZeroDivisionError as error:
        z = 0
        y.append(str(error))
    else:
        y += [z,
              n]
    finally:
        w = y[
            -1
        ]
    return w, z
