class N:
    def __init__(self, v): self.v = v; self.kids = []
def touch(n, depth):
    n.v += 1
    if depth:
        for k in n.kids: touch(k, depth - 1)
    n.kids.append(N(depth))
def main():
    root = N(0)
    alias = {"r": [root]}
    for i in range(3):
        touch(root, i)
        q = alias["r"][0].v
    k = root.kids
    k[0].v = 100
    k[0], k[1] = k[1], k[0]
    k[-1] = None
    k[0:1] = [N(5), N(6)]
    del k[0]
    del root.v
    root.kids += [1]
    root.kids *= 2
    k = None
    return alias
main()
