"""itertools with Python callbacks: each callback is called when its item is asked for."""

import itertools
import operator

log = []


def even(n):
    log.append(n)
    return n % 2 == 0


print(list(itertools.takewhile(even, [2, 4, 5, 6])), log)
print(list(itertools.dropwhile(even, [2, 5, 6])), list(itertools.filterfalse(even, range(4))), len(log))
print([(k, list(g)) for k, g in itertools.groupby([1, 3, 2, 4, 5], key=even)])
print(list(itertools.accumulate([1, 2, 3], lambda a, b: log.append("acc") or a * 10 + b)), log[-2:])
print(["".join(p) for p in itertools.permutations("abc", 2)], list(itertools.combinations(range(3), 2)))
print(list(itertools.chain.from_iterable([n] * n for n in range(4))), list(itertools.product("ab", repeat=2))[-1])
print(list(itertools.starmap(operator.sub, [(5, 2), (1, 1)])), list(itertools.pairwise("abc")))
print(list(itertools.islice(itertools.cycle([1, 2]), 1, 6, 2)), list(itertools.zip_longest("ab", "c", fillvalue="-")))
print(list(itertools.compress("abcd", [1, 0, 1])), list(itertools.repeat("r", 2)), next(itertools.count(5, 5)))
