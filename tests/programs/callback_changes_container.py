"""Code in C calls back more than once, and changes something after that."""


class K:
    def __init__(self, n):
        self.n = n

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return isinstance(other, K) and self.n == other.n

    def __lt__(self, other):
        return self.n < other.n

    def __index__(self):
        return self.n

    def __iter__(self):
        yield self.n
        yield self.n + 1


def lists():
    out = []
    out.extend(i for i in range(3))
    x = 1
    out += (i for i in range(2))
    x = 2
    out[1:1] = (i * i for i in range(3))
    x = 3
    out.extend(K(7))
    x = 4
    out.sort(key=lambda i: -i)
    x = 5
    out.insert(K(2), 99)
    x = 6
    out[K(0)] = 100
    x = 7
    del out[K(1)]
    x = 8
    out.pop(K(1))
    x = 9
    out *= K(2)
    x = 10
    keys = [K(3), K(1), K(2)]
    keys.sort()
    x = 11
    keys.remove(K(2))
    x = 12
    keys.append(keys.index(K(3)))
    x = 13
    return out, x


def dicts():
    d = {K(1): "a", K(2): "b", K(3): "c"}
    d[K(3)] = "C"
    x = 1
    d[K(4)] = "d"
    x = 2
    d[K(2)] += "!"
    x = 3
    del d[K(1)]
    x = 4
    d.pop(K(2))
    x = 5
    d.setdefault(K(5), []).append(1)
    x = 6
    d.update({K(3): 0, K(6): 1})
    x = 7
    d |= {K(6): 2, K(7): 3}
    x = 8
    d.update((K(n), n) for n in range(3, 9))
    x = 9
    d = d | {K(1): 1}
    d.popitem()
    x = 10
    return len(d), x


def sets():
    s = {K(1), K(2)}
    s.add(K(3))
    x = 1
    s.add(K(3))
    s.discard(K(1))
    x = 2
    s.remove(K(2))
    x = 3
    s.update(K(n) for n in range(4))
    x = 4
    s |= {K(5), K(6)}
    x = 5
    s -= {K(5)}
    x = 6
    s ^= {K(5), K(6)}
    x = 7
    s &= {K(5), K(1)}
    x = 8
    s.difference_update([K(1)])
    x = 9
    s.symmetric_difference_update([K(1), K(2)])
    x = 10
    s.intersection_update(K(n) for n in range(2))
    x = 11
    return len(s), x


def nested():
    table = {"rows": [[]]}
    table["rows"][0].extend(j for j in range(2))
    x = 1
    table["rows"][0][:] = (j + 1 for j in range(2))
    x = 2
    table["rows"].append([k for k in K(3)])
    x = 3

    class Box:
        pass

    box = Box()
    box.items = []
    box.items.extend(len(box.items) for _ in range(3))
    x = 4
    box.items += (len(box.items) for _ in range(2))
    x = 5
    return box.items, x


shared = []


def grows():
    for n in range(2):
        shared.append(n)
        yield n


def at_module_level():
    seen = []
    seen.extend(grows())
    x = len(seen)
    shared.extend(i for i in range(2))
    x = 2
    return x


print(lists(), dicts(), sets(), nested(), at_module_level())
