"""sorted, min, map, filter, zip, any, sum and re.sub calling Python functions from C: the order of the calls shows."""

import re

calls = []


def key(x):
    calls.append(x)
    return -x


def seen():
    copy = "".join(map(str, calls))
    calls.clear()
    return copy


print(sorted([3, 1, 2], key=key), seen())
print(min([3, 1, 2], key=key), max(3, 1, 2, key=key), seen())
print(list(map(key, [1, 2])), list(filter(key, [0, 1])), seen())
print(any(key(x) for x in (0, 1, 2)), all(key(x) for x in (1, 0, 2)), sum(key(x) for x in (4, 5)), seen())
print(re.sub(r"\d", lambda m: str(key(int(m[0]))), "a1b2"), seen())
print(list(zip(map(key, (1, 2, 3)), map(key, (7, 8)))), seen())
print(dict((key(x), x) for x in (1, 2)), "".join(str(key(x)) for x in (1, 2)), seen())
a = [3, 2, 1]
try:
    a.sort(key=lambda x: a.append(len(a)) or x)
except ValueError as error:
    print(error, a)
print([*map(lambda *xs: xs, "ab", "cd")], list(iter(lambda: key(len(calls)), -2)), seen())
