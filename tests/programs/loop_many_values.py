"""A loop over each kind of iterable: none of them is advanced or consumed by looking."""

import itertools


def numbers():
    yield "first"
    yield "second"


sources = {
    "list": [1, 2],
    "tuple": (1, 2),
    "str": "ab",
    "bytes": b"ab",
    "range": range(5, 0, -2),
    "dict": {"k": 1, "l": 2},
    "items": {"k": 1}.items(),
    "generator": numbers(),
    "map": map(str.upper, "ab"),
    "filter": filter(None, [0, 1, 2]),
    "zip": zip("ab", [1, 2, 3]),
    "enumerate": enumerate("ab", 10),
    "reversed": reversed([1, 2]),
    "chain": itertools.chain("a", "b"),
    "islice": itertools.islice(itertools.count(), 2),
    "sentinel": iter(iter([1, 2, 0, 3]).__next__, 0),
}
for kind, source in sources.items():
    seen = []
    for value in source:
        seen.append(value)
    print(kind, seen)
