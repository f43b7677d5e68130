"""collections: peeking must not grow a defaultdict, rotate a deque or reorder an OrderedDict."""

from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque

made = []


def factory():
    made.append("made")
    return []


d = defaultdict(factory)
d["a"].append(1)
print(d["b"], len(d), made, "c" in d, d.get("c"), dict(d))
q = deque([1, 2, 3, 4], maxlen=3)
q.rotate(1)
q.appendleft(0)
print(q, q.maxlen)
o = OrderedDict(a=1, b=2, c=3)
o.move_to_end("a")
print(o.popitem(last=False), list(o), o == {"a": 1, "c": 3})
c = Counter("abracadabra")
c.subtract("aab")
print(c.most_common(2), c["zzz"], len(c), c.total())
m = ChainMap({"x": 1}, {"x": 2, "y": 3})
m["y"] = 4
print(m.maps, m["x"], m.parents["y"])
print(UserDict(a=1), UserList([1, 2])[1:], repr(UserList()))
