"""lambda: called where it stands, stored, nested, with defaults, in a sort key, recursive through a name."""

a = (lambda: 3)()
b = lambda x, *y, k=4, **z: (x, y, k, z)
c = lambda f: lambda *args: f(f(*args))
d = {"+": lambda x, y: x + y, "-": lambda x, y: x - y}
print(a, b(1, 2, 3, z=5), c(lambda n: n * n)(3), d["+"](1, 2), d["-"](1, 2))
print(sorted(["bb", "a", "ccc"], key=lambda s: -len(s)), max([3, -5, 4], key=lambda n: abs(n)))
fix = (lambda f: (lambda x: x(x))(lambda x: f(lambda n: x(x)(n))))
print(fix(lambda me: lambda n: 1 if n == 0 else n * me(n - 1))(5))
print([f() for f in [lambda: 1, lambda: 2] if f() > 1], (lambda: (yield))().send(None), b.__name__)
