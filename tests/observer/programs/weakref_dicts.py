import weakref


class K:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return f"K{self.n}"


d = weakref.WeakValueDictionary()
e = weakref.WeakKeyDictionary()
s = weakref.WeakSet()
items = [K(i) for i in range(5)]
for k in items:
    d[k.n] = k
    e[k] = k.n
    s.add(k)
del items[1:3], k
print(sorted(d), sorted(e.values()), len(s), len(items))
del items[:]
print(dict(d), len(e), len(s))
