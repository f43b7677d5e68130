import cProfile, pstats, io


def f(n):
    return sum(g(i) for i in range(n))


def g(i):
    return i


p = cProfile.Profile()
p.enable()
print(f(3))
p.disable()
s = pstats.Stats(p, stream=io.StringIO())
print(sorted((k[2], v[0]) for k, v in s.stats.items() if "profile" not in k[2]))
