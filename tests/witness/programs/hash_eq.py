class K:
    def __init__(self, n):
        self.n = n
    def __eq__(self, o):
        r = self.n == o.n
        return r
    def __hash__(self):
        h = 1
        return h
def main():
    d = {K(1): 1, K(2): 2, K(3): 3}
    s = {K(1), K(2), K(3)}
    xs = [K(1), K(2), K(3)]
    d[K(4)] = 4
    x = 1
    d[K(3)] += 1
    x = 2
    del d[K(3)]
    x = 3
    d.pop(K(4))
    x = 4
    d.setdefault(K(5), [])
    x = 5
    d.setdefault(K(5), []).append(1)
    x = 6
    s.add(K(4))
    x = 7
    s.discard(K(3))
    x = 8
    s |= {K(7), K(8)}
    x = 9
    xs.remove(K(3))
    x = 10
    e = {K(1): 1, K(2): 2}
    d.update(e)
    x = 11
    d |= e
    x = 12
    f = {**d, K(9): 1}
    x = 13
    t = {K(1), K(2), K(3)}
    x = 14
    t -= {K(2)}
    x = 15
    return x
main()
end = 1
