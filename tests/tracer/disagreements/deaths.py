log = []
class D:
    def __init__(self, n): self.n = n; self.l = [n]
    def __del__(self): log.append(self.n)
def main():
    a = D(1); b = [D(2)]; c = {"x": D(3)}; seen = log
    a = None
    b[0] = 5
    c.clear()
    d = D(4); d = D(6)
    b.append(D(7)); b.pop(); b.pop()
    e = D(8); del e
    return seen
main()
