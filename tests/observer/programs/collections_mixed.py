import collections

P = collections.namedtuple("P", "x y")
c = collections.Counter("abca")
o = collections.OrderedDict(b=1, a=2)
o.move_to_end("b")
d = collections.defaultdict(list)
d["k"].append(1)
m = collections.ChainMap({"a": 1}, {"a": 2, "b": 3})
print(P(1, 2)._asdict(), c.most_common(1), list(o), dict(d), m["b"], collections.deque([1, 2, 3], 2))
