"""List, dict and set comprehensions: one line, several lines, nested, with if, over the same name."""

x = 3
a = [x for x in range(4)]
b = [
    x * y
    for x in range(3)
    if x
    for y in (10, 20)
    if y > 10
    or x == 2
]
c = {k: v for k, v in zip("ab", [1, 2])}
d = {n % 3 for n in range(7)}
e = [[x + y for x in range(2)] for y in range(2)]
f = [z for z in [w for w in [1, 2, 3] if w != 2]]
g = {
    k:
        [n for n in range(v)]
    for k, v in c.items()
}
print(x, a, b, c, sorted(d), e, f, g)
print([x for x in x * [x]], x, [_ for _ in ()], [i for i, in [(1,), (2,)]])
print([(yes, no) for yes in "ab" for no in yes.upper()], [*(q for q in "qr")], "yes" in globals())
