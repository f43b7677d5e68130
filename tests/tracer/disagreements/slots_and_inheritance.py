class A:
    __slots__ = ("a", "l")
    def __init__(self): self.a = 1; self.l = []
class B(A):
    def __init__(self):
        super().__init__()
        self.b = self.l
    def go(self):
        self.a += 1; self.l.append(self.a); self.b[0] += 1
        self.c = self.d = []
        self.c.append(1)
        del self.c
        return self
def main():
    b = B(); k = {"b": b}
    b.go().go().l.append(5)
    B.go(b)
    b.__class__ = C
    b.x = 1
    return k
class C(B): kind = []
main()
