class K:
    def __init__(self, n): self.n = n; seen.append(n)
seen = []
def main():
    out = []
    a = [K(i) for i in range(3)]
    b = {k.n: [out.append(k.n)] for k in a}
    c = [x for x in (out.append(5), 1)]
    d = sum(k.n for k in a) + sum(len(b[k.n]) for k in a)
    e = [[j for j in out] for i in range(2)]
    e[0].append(1)
    return b, c, e
main()
