import itertools


def noisy():
    for i in range(4):
        print("give", i)
        yield i


a, b = itertools.tee(noisy())
print(next(a), list(itertools.islice(b, 2)), list(a))
for k, g in itertools.groupby("aabbb"):
    print(k, len(list(g)))
print(list(itertools.accumulate([1, 2, 3])), next(itertools.count(5)))
